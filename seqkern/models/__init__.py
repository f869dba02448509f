"""From data to a model: one way to train, in the folds of an evaluation and for good.

`method.py` holds `Method`: what is trained (kernels to choose among, transforms, solver, layers, calibration,
threshold). Who calls whom::

    Method.fit(data, rows) ─▶ choose ─▶ decisions about held-out folds ─▶ layers ─▶ transforms ─▶ solver ─▶ FittedMethod
    FittedMethod.decide(rows) ─▶ decisions, predictions, probabilities
    FittedMethod.model() ─▶ Model, FeatureModel or ResidueModel, which needs the data no more

`search.py` says how the choice is made, `fitted.py` is what comes out, `model.py`, `feature_model.py` and
`residue_model.py` are the models of new samples, `loading.py` reads them, `training.py` trains for good.
`data.py` binds a method to data: labels, and a `Source` of each kernel's values. `sources.py` and `feature_source.py`
hold the sources: Gram matrices that are stored, kernels that are fitted anew, features. `crossval.py` evaluates a fold:
fit, decide, score.
"""
