"""Random documents: recursive, mixed, with everything that XML puts between tags."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from penstock_testing.generate.names import (
    ATTRIBUTES,
    ELEMENTS,
    IDENTIFIER,
    LANGUAGES,
    NAMESPACES,
    NUMBERS,
    ROOT,
    TARGETS,
    WORDS,
)

_DOCTYPE = """<!DOCTYPE r [<!--in--><!ENTITY e "v"><!ENTITY m "<b x='1'>2</b>">
<!ATTLIST d y CDATA "v">]>"""
_IDENTIFIERS = f"""<!DOCTYPE r [{
    "".join(f"<!ATTLIST {name} {IDENTIFIER} ID #IMPLIED>" for name in (ROOT, *ELEMENTS))
}]>"""


@dataclass(frozen=True, slots=True)
class DocumentKnobs:
    """How large documents get and how often the rarer things occur.

    ``members`` are children of the root that come first, each with up to ``nodes_max`` elements
    inside it.
    ``identifiers`` is how often a document declares ids, ``language`` how often an element is in
    a language.
    """

    nodes_max: int = 16
    members: int = 0
    depth_max: int = 6
    attribute: float = 0.35
    text: float = 0.45
    comment: float = 0.06
    instruction: float = 0.05
    namespaces: float = 0.3
    markup: float = 0.25
    doctype: float = 0.1
    identifiers: float = 0
    language: float = 0


def random_document(random: Random, knobs: DocumentKnobs | None = None) -> bytes:
    """Return a well-formed document in UTF-8."""
    return _Writer(random, knobs or DocumentKnobs()).document().encode()


class _Writer:
    def __init__(self, random: Random, knobs: DocumentKnobs) -> None:
        self.random = random
        self.knobs = knobs
        self.nodes_left = random.randint(1, knobs.nodes_max)
        self.has_namespaces = self.happens(knobs.namespaces)
        self.has_doctype = self.happens(knobs.doctype)
        self.has_identifiers = not self.has_doctype and self.happens(knobs.identifiers)
        self.identified = 0

    def happens(self, chance: float) -> bool:
        # The smallest number makes nothing happen, so that shrinking makes things smaller.
        return self.random.random() >= 1 - chance

    def document(self) -> str:
        head = _DOCTYPE if self.has_doctype else _IDENTIFIERS if self.has_identifiers else ""
        declarations = ""
        if self.has_namespaces:
            declarations = "".join(f' xmlns:{p}="{uri}"' for p, uri in NAMESPACES.items())
        root = ROOT if self.happens(0.6) else self.random.choice(ELEMENTS)
        return f"{self.aside()}{head}{self.element(root, 1, declarations)}{self.aside()}"

    def aside(self) -> str:
        """Return a comment or an instruction, or mostly nothing."""
        if self.happens(self.knobs.comment):
            return f"<!--{self.random.choice(WORDS)}-->"
        if self.happens(self.knobs.instruction):
            return f"<?{self.random.choice(TARGETS)} {self.random.choice(WORDS)}?>"
        return ""

    def element(self, name: str, depth: int, declarations: str = "") -> str:
        tag = f"{name}{declarations}{self.attributes()}"
        content = self.content(depth)
        if not content and self.happens(0.8):
            return f"<{tag}/>"
        return f"<{tag}>{content}</{name}>"

    def attributes(self) -> str:
        written = ""
        for name in ATTRIBUTES:
            if self.happens(self.knobs.attribute):
                prefix = "p:" if self.has_namespaces and self.happens(0.2) else ""
                value = self.random.choice(NUMBERS if name == "n" else NUMBERS + WORDS)
                written += f' {prefix}{name}="{value}"'
        if self.has_identifiers and self.happens(0.6):
            self.identified += 1
            written += f' {IDENTIFIER}="k{self.identified}"'
        if self.happens(self.knobs.language):
            written += f' xml:lang="{self.random.choice(LANGUAGES)}"'
        return written

    def content(self, depth: int) -> str:
        parts = [self.text()]
        for _ in range(self.knobs.members if depth == 1 else 0):
            self.nodes_left = self.random.randint(0, self.knobs.nodes_max)
            parts += self.child(depth)
        while self.nodes_left > 0 and depth < self.knobs.depth_max and self.happens(0.8):
            self.nodes_left -= 1
            parts += self.child(depth)
        return "".join(parts)

    def child(self, depth: int) -> list[str]:
        return [self.element(self.name(), depth + 1), self.aside(), self.text()]

    def name(self) -> str:
        name = self.random.choice(ELEMENTS)
        if self.has_namespaces and self.happens(0.25):
            return f"{self.random.choice(list(NAMESPACES))}:{name}"
        return name

    def text(self) -> str:
        if not self.happens(self.knobs.text):
            return ""
        text = self.random.choice(NUMBERS + WORDS)
        if self.has_identifiers and self.happens(0.4):
            text = " ".join(
                f"k{self.random.randint(1, 6)}" for _ in range(self.random.choice((1, 2)))
            )
        if self.happens(self.knobs.markup):
            forms = ["<![CDATA[{}]]>", "{}&#118;", "&lt;{}", "<![CDATA[{}]]>1", "{}&amp;", "é{}"]
            if self.has_doctype:
                forms += ["{}&e;", "&m;{}"]
            return self.random.choice(forms).format(text)
        return text
