"""From data to a model: one way to train, in the folds of an evaluation and for the final model.

`method.py` contains `Method`: kernels to choose from, transforms, solver, layers, calibration and
threshold. The calls::

    Method.fit(data, rows) ─▶ choose ─▶ decisions about held-out folds ─▶ layers ─▶ transforms ─▶ solver ─▶ FittedMethod
    FittedMethod.decide(rows) ─▶ decisions, predictions, probabilities
    FittedMethod.model() ─▶ Model, FeatureModel or ResidueModel, independent of the data

`search.py` has the settings of the choice, `fitted.py` the result, `model.py`, `feature_model.py` and
`residue_model.py` the models for new samples, `loading.py` reads them, `training.py` trains the final model.
`data.py` connects a method to data: labels, and a `Source` of each kernel's values. `sources.py` and
`feature_source.py` contain the sources: stored Gram matrices, kernels fitted on each training set, features.
`crossval.py` evaluates a
fold: fit, decide, score.
"""
