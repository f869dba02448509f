"""The potential support vector machine (P-SVM), its path over ε and its significance test."""
