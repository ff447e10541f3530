"""The network of figure 1: news of 52 KB, 22 paths, 10,000 servers with Zipf-distributed paths."""

from dataclasses import dataclass
from random import Random

from benchmarks.workloads.words import WORDS

SEED = 20_021_130
DOCUMENT_BYTES = 52 * 1024
HEAD = ("agency", "date", "city", "country", "language", "priority", "subject", "company")
MIDDLE = ("ticker", "currency", "price", "change", "volume", "sector", "exchange")
TAIL = ("rights", "source", "edition", "desk", "status", "revision", "editor")
PATHS = (
    *(f"/news/head/{name}" for name in HEAD),
    *(f"/news/content/quote/{name}" for name in MIDDLE),
    *(f"/news/tail/{name}" for name in TAIL),
)
"""The 22 paths: each has one node in every document, and they lie in three places of it."""
VALUES = 50


@dataclass(frozen=True)
class Query:
    """One conjunct: a path equals a constant."""

    path: int
    constant: str

    @property
    def text(self) -> str:
        """The query as XPath."""
        return f"{PATHS[self.path]} = '{self.constant}'"


def document(seed: int = SEED, length: int = DOCUMENT_BYTES) -> bytes:
    """Return a document of about so many bytes."""
    random = Random(seed)

    def fields(names: tuple[str, ...]) -> str:
        return "\n".join(f"  <{name}>v{random.randrange(VALUES)}</{name}>" for name in names)

    def paragraphs(until: int) -> str:
        written, size = [], 0
        while size < until:
            words = [random.choice(WORDS) for _ in range(40)]
            words[7] = f"<em>{words[7]}</em>"
            words[19] = f'<a href="urn:{words[3]}:{random.randrange(999)}">{words[19]}</a>'
            written.append(f"   <p>{' '.join(words)}</p>\n")
            size += len(written[-1])
        return "".join(written)

    half = (length - 1500) // 2
    return (
        f'<?xml version="1.0"?>\n<news>\n <head>\n{fields(HEAD)}\n </head>\n <content>\n'
        f"{paragraphs(half)}  <quote>\n{fields(MIDDLE)}\n  </quote>\n{paragraphs(half)}"
        f" </content>\n <tail>\n{fields(TAIL)}\n </tail>\n</news>\n"
    ).encode()


def servers(count: int, exponent: float = 1.0, seed: int = SEED) -> list[list[Query]]:
    """Return the queries of servers: one to five each, paths by a Zipf distribution."""
    random = Random(seed)
    # Which path is frequent has nothing to do with where it lies.
    ranked = random.sample(range(len(PATHS)), len(PATHS))
    weights = [1 / (rank + 1) ** exponent for rank in range(len(PATHS))]
    found = []
    for _ in range(count):
        paths = random.choices(ranked, weights, k=random.randint(1, 5))
        found.append([Query(path, f"v{random.randrange(VALUES)}") for path in paths])
    return found


def random_instance(seed: int) -> tuple[int, list[list[int]], int]:
    """Return a random problem of selection: number of paths, paths by server, header size.

    Half of them are Zipf-distributed as in the paper; in the others servers focus on parts of the
    data (section 2.3), with some paths from elsewhere.
    """
    random = Random(seed)
    count = random.randint(10, 22)
    size = random.randint(2, count - 2)
    number = random.randint(30, 120)
    if seed % 2 == 0:
        weights = [1 / (rank + 1) ** random.choice((0.5, 1.0, 1.5)) for rank in range(count)]
        chosen = [
            random.choices(range(count), weights, k=random.randint(1, 5)) for _ in range(number)
        ]
        return count, chosen, size
    groups = [
        random.sample(range(count), random.randint(2, 6)) for _ in range(random.randint(4, 12))
    ]
    chosen = []
    for _ in range(number):
        group = random.choice(groups)
        paths = random.sample(group, random.randint(1, len(group)))
        chosen.append(paths + ([random.randrange(count)] if random.random() < 0.2 else []))
    return count, chosen, size
