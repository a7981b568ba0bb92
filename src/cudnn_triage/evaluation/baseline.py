"""Statistical look-alikes as a yardstick: nearest neighbour by TF-IDF and logistic regression, trained on the other folds."""

from __future__ import annotations

from collections.abc import Sequence

from .fitting import folds
from .labelled import Labelled
from .metrics import Answer


class BaselineUnavailable(Exception):
    """scikit-learn is not installed."""


def baselines(labelled: Sequence[Labelled]) -> dict[str, list[Answer]]:
    """Answers of both look-alikes, each log judged by a model that has not seen its fold. Raises BaselineUnavailable."""
    try:
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression
        from sklearn.neighbors import KNeighborsClassifier
    except ImportError:
        raise BaselineUnavailable(
            'the statistical baseline needs scikit-learn: pip install "cudnn-triage[test]"'
        ) from None
    texts = [item.log.decode("utf-8", "replace") for item in labelled]
    out: dict[str, dict[int, Answer]] = {"nearest neighbour": {}, "logistic regression": {}}
    for fold in folds(labelled):
        held = set(fold)
        train = [i for i in range(len(labelled)) if i not in held]
        vectors = TfidfVectorizer(token_pattern=r"[A-Za-z_][A-Za-z0-9_.]+", sublinear_tf=True, min_df=1)
        known = vectors.fit_transform([texts[i] for i in train])
        asked = vectors.transform([texts[i] for i in fold])
        labels = [(labelled[i].gold or ("nothing",))[0] for i in train]
        models = {
            "nearest neighbour": KNeighborsClassifier(1, metric="cosine"),
            "logistic regression": LogisticRegression(C=30.0, max_iter=300),
        }
        for name, model in models.items():
            model.fit(known, labels)
            for i, chances in zip(fold, model.predict_proba(asked), strict=True):
                order = chances.argsort()[::-1][:3]
                ranked = tuple(str(model.classes_[j]) for j in order)
                out[name][i] = Answer(labelled[i], ranked, float(chances[order[0]]))
    return {name: [found[i] for i in range(len(labelled))] for name, found in out.items()}
