"""Learning the model of words (rules/hunches.yaml) from labelled logs: logistic regression, one cause against all others,
over the words and pairs of words of whole logs."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..knowledge.base import Knowledge
from .labelled import Labelled
from .metrics import harmless, off_field_cause

_LEAST = 4  # logs that have to hold a word
_ACCEPTABLE = 0.5  # how much all other right answers of a log count beside the first
_SMOOTHING = 16.0  # inverse strength of the pull towards zero of all logs together; 8 to 50 answer about as well
_ROUNDS = 100
_SLIGHT = 0.3  # weights below it are left out: what is left answers as well as the whole model

Data = dict[str, Any]


class CannotLearn(Exception):
    """There is nothing to learn with, or too little to learn from."""


def learn(words: Sequence[Mapping[str, int]], labelled: Sequence[Labelled], knowledge: Knowledge) -> Data:
    """The model as compiled rules hold it: ``why`` (as it stands), ``causes``, ``base``, and a row for each of ``words``.

    The same logs in the same order give the same model. Raises CannotLearn without scikit-learn, and where the logs are too
    few or too much alike.
    """
    try:
        from scipy.sparse import csr_matrix
        from sklearn.linear_model import SGDClassifier
    except ImportError:
        raise CannotLearn('learning needs scikit-learn: pip install "cudnn-triage[test]"') from None
    count = Counter(word for found in words for word in found)
    known = {word: at for at, word in enumerate(sorted(word for word in count if count[word] >= _LEAST))}
    rarity = [math.log(len(words) / count[word]) for word in known]
    places: list[tuple[int, int, float]] = []
    causes: list[str] = []
    shares: list[float] = []
    for found, item in zip(words, labelled, strict=True):
        mine = [known[word] for word in found if word in known]
        length = math.sqrt(sum(rarity[at] ** 2 for at in mine)) or 1.0
        for cause, share in _answers(item, knowledge):
            places += [(len(causes), at, rarity[at] / length) for at in mine]
            causes.append(cause)
            shares.append(share)
    if not places or len(set(causes)) < 2:
        raise CannotLearn(f"too few logs to learn from: words of two causes, each in {_LEAST} logs, are the least")
    rows, columns, values = zip(*places, strict=True)
    matrix = csr_matrix((values, (rows, columns)), shape=(len(causes), len(known)))
    model = SGDClassifier(loss="log_loss", alpha=1 / (_SMOOTHING * len(causes)), max_iter=_ROUNDS, random_state=0)
    model.fit(matrix, causes, sample_weight=shares)
    weights, base = model.coef_, model.intercept_
    if len(weights) == 1:  # of two causes: what speaks for one speaks against the other
        weights, base = [-weights[0] / 2, weights[0] / 2], [-base[0] / 2, base[0] / 2]
    table = {word: [round(rarity[at], 2), *_weights([w[at] for w in weights])] for word, at in known.items()}
    return {
        "why": (knowledge.hunches or {}).get("why", ""),
        "causes": [str(cause) for cause in model.classes_],
        "base": [round(float(value), 2) for value in base],
        "words": table,
    }


def _answers(item: Labelled, knowledge: Knowledge) -> Iterator[tuple[str, float]]:
    """The right answers to a log and how much each counts; all that is harmless is one."""
    first, *others = [
        off_field_cause(knowledge) if harmless(cause, knowledge) else cause
        for cause in [*item.gold, *item.acceptable] or [off_field_cause(knowledge)]
    ]
    yield first, 1.0
    for cause in others:
        yield cause, _ACCEPTABLE / len(others)


def _weights(column: Sequence[float]) -> Iterator[float]:
    for number, value in enumerate(column):
        if abs(value) >= _SLIGHT:
            yield from (number, round(float(value), 1))


def as_rules(model: Data, logs: int, day: str) -> str:
    """The model as the text of rules/hunches.yaml."""
    head = {"why": model["why"], "source": f"fitted on {logs} labelled logs", "read": day}
    lines = ["# Fitted by 'cudnn-triage fit --hunches'; what it means stands in src/cudnn_triage/hunches.py"]
    lines += [f"{key}: {value}" for key, value in head.items() if value]
    lines += [f"causes: [{', '.join(model['causes'])}]", f"base: [{', '.join(map(str, model['base']))}]", "words:"]
    for word, (rare, *weights) in model["words"].items():
        pairs = [f"{number}:{weight:g}" for number, weight in zip(weights[::2], weights[1::2], strict=True)]
        lines.append(f"  - [{json.dumps(word, ensure_ascii=False)}, '{' '.join([f'{rare:g}', *pairs])}']")
    return "\n".join(lines) + "\n"
