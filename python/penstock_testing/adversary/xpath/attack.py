"""The attack: rounds of expressions and documents, each pair asked alone and all together."""

from __future__ import annotations

from random import Random

from lxml import etree

from penstock.errors import QueryError
from penstock.kernel import Plan, Session
from penstock_testing.adversary.minimise import minimise, smaller_documents, smaller_queries
from penstock_testing.adversary.report import Failure, FailureKind, Tally, kind_of
from penstock_testing.adversary.splitting import feed, read, split
from penstock_testing.adversary.wellformed import write_document
from penstock_testing.adversary.xpath.asking import (
    AskedDocument,
    AskedQuestion,
    Rows,
    take,
)
from penstock_testing.adversary.xpath.expressions import VARIABLES, Question, write_question
from penstock_testing.adversary.xpath.judging import Judge
from penstock_testing.generate import NAMESPACES
from penstock_testing.peers import is_empty

QUESTIONS = 16
DOCUMENTS = 4
CASES_PER_ROUND = QUESTIONS * DOCUMENTS
SHRUNK_MAX = 10
"""Failures of one attack that are shrunk; the others are printed as they are."""

_judge = Judge()


def attack(seed: int, count: int) -> Tally:
    """Ask at least ``count`` pairs of an expression and a document, and return what was found.

    A round of pairs comes from one seed, its first; the next one is that of the next round.
    """
    tally = Tally()
    for first in range(seed, seed + count, CASES_PER_ROUND):
        _Round(first, tally).run()
    return tally


class _Round:
    def __init__(self, seed: int, tally: Tally) -> None:
        self._seed = seed
        self._tally = tally
        self._random = Random(seed)

    def run(self) -> None:
        try:
            self._run()
        except BaseException as error:
            self._find(kind_of(error), str(error))

    def _run(self) -> None:
        documents = [AskedDocument(write_document(self._random)) for _ in range(DOCUMENTS)]
        questions = self._questions(documents)
        together = Session(
            Plan.build([asked.program for asked in questions]),
            questions_min=self._random.choice((None, 1)),
        )
        for document in documents:
            answers = self._answers(together, questions, document)
            for asked, answer in zip(questions, answers, strict=True):
                self._check(asked, document, answer)

    def _questions(self, documents: list[AskedDocument]) -> list[AskedQuestion]:
        """Return questions; one without any answer is mostly replaced by another."""
        questions: list[AskedQuestion] = []
        while len(questions) < QUESTIONS:
            question = write_question(self._random)
            try:
                if self._random.random() < 0.2 or any(
                    not is_empty(document.libxml2.ask(question.text, NAMESPACES, VARIABLES))
                    for document in documents
                ):
                    questions.append(AskedQuestion(question))
            except QueryError as error:
                self._fail("error", f"{question.text}\n  is refused: {error}")
            except etree.XPathSyntaxError as error:
                self._fail("error", f"{question.text}\n  is refused by libxml2: {error}")
        return questions

    def _answers(
        self, session: Session, questions: list[AskedQuestion], document: AskedDocument
    ) -> list[Rows]:
        """Return what a session answers, asked in one piece or in several."""
        if self._random.random() < 0.5:
            read(session, document.source)
        else:
            feed(session, split(document.source, self._random))
        return take(session, questions)

    def _check(self, asked: AskedQuestion, document: AskedDocument, together: Rows) -> None:
        self._tally.cases += 1
        (alone,) = self._answers(asked.session, [asked], document)
        deviation = _judge.deviation(asked, document, alone)
        if deviation is None:
            self._fail("wrong", self._shrunk(asked.question, document.source))
        elif repr(alone) != repr(together):
            case = f"{asked.question.text}\n  {document.source.decode()}"
            self._fail("wrong", f"{case}\n  alone {alone}\n  together {together}")
        elif deviation:
            self._tally.deviations[deviation] += 1
        self._tally.non_empty += not is_empty(alone)

    def _find(self, kind: FailureKind, message: str) -> None:
        """Ask all pairs again, each for itself, to find the one that has no answer."""
        self._random = Random(self._seed)
        sources = [write_document(self._random) for _ in range(DOCUMENTS)]
        questions = self._questions([AskedDocument(source) for source in sources])
        for asked in questions:
            for source in sources:
                if _fault(asked.question, source).startswith(kind):
                    return self._fail(kind, self._shrunk(asked.question, source))
        return self._fail(kind, f"{message}, only with the questions of this round together")

    def _shrunk(self, question: Question, source: bytes) -> str:
        if len(self._tally.failures) < SHRUNK_MAX:
            question, source = _minimised(question, source)
        fault = _fault(question, source) or "is right when it is asked again"
        at = " at the root element" if question.is_relative else ""
        return f"{question.text}{at}\n  {source.decode()}\n  {fault}"

    def _fail(self, kind: FailureKind, case: str) -> None:
        self._tally.failures.append(Failure(kind, self._seed, case))


def _minimised(question: Question, source: bytes) -> tuple[Question, bytes]:
    """Return the smallest case like this one that fails."""

    def fails(text: str, source: bytes) -> bool:
        return bool(_fault(Question(text, question.is_relative), source))

    text = question.text
    if fails(text, source):
        source = minimise(source, smaller_documents, lambda smaller: fails(text, smaller))
        text = minimise(text, smaller_queries, lambda smaller: fails(smaller, source))
        source = minimise(source, smaller_documents, lambda smaller: fails(text, smaller))
    return Question(text, question.is_relative), source


def _fault(question: Question, source: bytes) -> str:
    """Return what is wrong with an answer, in one piece or byte by byte; empty if nothing is."""
    try:
        asked, document = AskedQuestion(question), AskedDocument(source)
        theirs = document.ask_libxml2(asked)
    except Exception:
        return ""  # a smaller case that is no query or no document any more
    bytewise = [source[place : place + 1] for place in range(len(source))]
    for pieces in ([source], bytewise):
        try:
            feed(asked.session, pieces)
        except BaseException as error:
            return f"{kind_of(error)}: {error}"
        (answer,) = take(asked.session, [asked])
        if _judge.deviation(asked, document, answer) is None:
            expected: object = theirs
            if isinstance(theirs, list):
                expected = [document.describe(node) for node in theirs]
            return f"Penstock {answer}\n  libxml2 {expected}"
    return ""
