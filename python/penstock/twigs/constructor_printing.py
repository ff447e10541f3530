"""The printed form of constructors, and of the strings in them."""

from __future__ import annotations

from penstock.twigs import sequences as q

_IN_LITERAL = str.maketrans({"&": "&amp;", '"': '""', "\r": "&#xD;"})
_IN_CONTENT = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", "{": "{{", "}": "}}", "\r": "&#xD;", "\n": "&#xA;"}
)
_IN_VALUE = _IN_CONTENT | str.maketrans({'"': "&quot;", "\t": "&#x9;"})


def quoted(text: str) -> str:
    """Return a string literal."""
    return f'"{text.translate(_IN_LITERAL)}"'


class ConstructorPrinter:
    """Prints constructors: with tags where the name is known, else as they are computed."""

    def text(self, item: q.Item) -> str:
        """Return an expression that may be a list with commas."""
        raise NotImplementedError

    def constructed(self, item: q.Item) -> str | None:
        """Return a constructor; None if it is none."""
        match item:
            case q.NewElement(name=q.Name()):
                return self._element(item)
            case q.NewElement():
                content = self._braces(item.content)
                return f"element {{ {self.text(item.name)} }} {content}"
            case q.NewAttribute(name=q.Name() as name, value=value):
                return f"attribute {_name(name)} {self._braces(value)}"
            case q.NewAttribute(name=name, value=value):
                return f"attribute {{ {self.text(name)} }} {self._braces(value)}"
            case q.NewText(value=value):
                return f"text {{ {self.text(value)} }}"
            case q.NewComment(value=value):
                return f"comment {{ {self.text(value)} }}"
            case q.NewInstruction(target=target, value=value):
                named = target if isinstance(target, str) else f"{{ {self.text(target)} }}"
                return f"processing-instruction {named} {{ {self.text(value)} }}"
            case q.NewDocument(content=content):
                return f"document {{ {self.text(content)} }}"
            case q.Characters(text=text):
                return quoted(text)
        return None

    def _braces(self, parts: tuple[q.Item, ...]) -> str:
        return f"{{ {', '.join([self.text(part) for part in parts])} }}" if parts else "{ }"

    def _element(self, element: q.NewElement) -> str:
        """Return an element with tags; attributes that come first stand in the start tag."""
        name = _name(element.name)
        tag = [f"<{name}"]
        for prefix, uri in element.namespaces:
            declared = f"xmlns:{prefix}" if prefix else "xmlns"
            tag.append(f'{declared}="{uri.translate(_IN_VALUE)}"')
        seen: set[tuple[str, str]] = set()
        content = list(element.content)
        while content and isinstance(content[0], q.NewAttribute):
            attribute = content[0].name
            if not isinstance(attribute, q.Name) or (attribute.uri, attribute.local) in seen:
                break
            seen.add((attribute.uri, attribute.local))
            value = "".join([self._part(part, _IN_VALUE) for part in content.pop(0).value])
            tag.append(f'{_name(attribute)}="{value}"')
        if not content:
            return f"{' '.join(tag)}/>"
        inside = "".join([self._part(part, _IN_CONTENT) for part in content])
        return f"{' '.join(tag)}>{inside}</{name}>"

    def _part(self, part: q.Item, escapes: dict[int, str]) -> str:
        if not isinstance(part, q.Characters):
            is_tag = isinstance(part, q.NewElement) and isinstance(part.name, q.Name)
            text = self.text(part)
            return text if is_tag and escapes is _IN_CONTENT else f"{{{text}}}"
        text = part.text.translate(escapes)
        # Space between tags is layout, unless it is written as a reference.
        if text.isspace() and escapes is _IN_CONTENT:
            return f"&#x{ord(text[0]):X};{text[1:]}"
        return text


def _name(name: q.Name) -> str:
    return f"{name.prefix}:{name.local}" if name.prefix else name.local
