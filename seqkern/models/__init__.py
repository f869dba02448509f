"""Models: trained, saved, loaded, applied to new sequences, slid along long ones."""
