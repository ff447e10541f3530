"""The prolog and the whole query."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from penstock.languages.xpath.namespaces import XML_NAMESPACE
from penstock.languages.xquery import syntax as y
from penstock.languages.xquery.functions import CODEPOINTS
from penstock.languages.xquery.lowering.expressions import ExpressionLowering
from penstock.languages.xquery.lowering.names import (
    FN_NAMESPACE,
    XS_NAMESPACE,
    XSI_NAMESPACE,
)
from penstock.languages.xquery.lowering.scopes import GlobalVariable, Key, OwnFunction
from penstock.languages.xquery.rejections import rejection
from penstock.twigs import sequences as q

_RESERVED = (XML_NAMESPACE, XS_NAMESPACE, XSI_NAMESPACE, FN_NAMESPACE)
_TWICE = {
    "boundary-space": "XQST0068",
    "default collation": "XQST0038",
    "base-uri": "XQST0032",
    "construction": "XQST0067",
    "ordering": "XQST0065",
    "default order empty": "XQST0069",
    "copy-namespaces": "XQST0055",
}


class ModuleLowering(ExpressionLowering):
    """Lowers a whole query."""

    def module(self, module: y.Module) -> q.Sequences:
        """Return the body with the functions and variables of the prolog, checked."""
        self._set(module.prolog)
        self.given.prefixes = self.names.bindings
        self._declare(module.prolog)
        for entry in [*self.globals.values()]:
            self._lower_variable(entry)
        self.needs = set()
        body = self.lower(module.body)
        functions = tuple(self._lower_called())
        return q.Sequences(body, functions, tuple(self._ordered_variables()))

    # Namespaces and settings

    def _set(self, prolog: tuple[y.Declaration, ...]) -> None:
        """Apply the declarations that come first: namespaces and settings."""
        seen: set[str] = set()
        for declaration in prolog:
            match declaration:
                case y.NamespaceDeclaration(default=None):
                    self._bind_prefix(declaration, seen)
                case y.NamespaceDeclaration():
                    self._set_default(declaration, seen)
                case y.Setter(name=name):
                    self._check_once(name, declaration.span, seen, _TWICE[name])
                    self._setting(declaration)
                case y.OptionDeclaration(name=name):
                    if not name.prefix:
                        message = f"the option `{name.text}` has no prefix"
                        way_out = "write prefix:name"
                        raise self.error("PQ0111", message, name.span, way_out, "XPST0081")
                    self.names.uris_of(name.prefix, name.span)

    def _check_once(self, what: str, span: y.Span, seen: set[str], xquery_code: str) -> None:
        if what in seen:
            message = f"`{what}` is declared twice"
            raise self.error("PQ0505", message, span, "keep one of the declarations", xquery_code)
        seen.add(what)

    def _bind_prefix(self, declaration: y.NamespaceDeclaration, seen: set[str]) -> None:
        prefix, uri = declaration.prefix, declaration.uri
        # Even the right namespace of xml cannot be declared here.
        self.check_binding("xmlns" if prefix == "xml" else prefix, uri, declaration.span)
        self._check_once(f"namespace {prefix}", declaration.span, seen, "XQST0033")
        self.names = self.names.with_bindings([(prefix, (uri,))])

    def _set_default(self, declaration: y.NamespaceDeclaration, seen: set[str]) -> None:
        what = f"default {declaration.default} namespace"
        self._check_once(what, declaration.span, seen, "XQST0066")
        self.check_binding("", declaration.uri, declaration.span)
        if declaration.default == "element":
            self.names = self.names.with_bindings([("", (declaration.uri,))])
        else:
            self.names = replace(self.names, function=declaration.uri)

    def _setting(self, setter: y.Setter) -> None:
        match setter.name:
            case "boundary-space":
                self.keeps_space = setter.value == "preserve"
            case "default order empty":
                self.is_empty_greatest = setter.value == "greatest"
            case "base-uri":
                self.base_uri = setter.value
            case "default collation" if setter.value != CODEPOINTS:
                raise rejection("default collation", setter.span, self.text)
            case "copy-namespaces" if setter.value != "preserve, inherit":
                raise rejection("copy-namespaces", setter.span, self.text)

    # Variables and functions

    def _declare(self, prolog: tuple[y.Declaration, ...]) -> None:
        """Make all variables and functions known, so that they can mention each other."""
        for declaration in prolog:
            match declaration:
                case y.VariableDeclaration(name=name):
                    key = self.key_of(name)
                    if key in self.globals:
                        message = f"`${name.text}` is declared twice"
                        way_out = "give one of them another name"
                        raise self.error("PQ0505", message, name.span, way_out, "XQST0049")
                    unique = self.unique(name.local)
                    self.globals[key] = GlobalVariable(unique, name.span, declaration)
                case y.FunctionDeclaration():
                    self._declare_function(declaration)

    def _declare_function(self, declaration: y.FunctionDeclaration) -> None:
        written = declaration.name
        name = self.names.of_function(written)
        if name.uri in _RESERVED or not name.uri:
            why = "is in a namespace of the language" if name.uri else "is in no namespace"
            message = f"the function `{written.text}` {why}"
            way_out = f"call it local:{written.local}"
            code = "XQST0045" if name.uri else "XQST0060"
            raise self.error("PQ0506", message, written.span, way_out, code)
        key = (name.uri, name.local, len(declaration.parameters))
        if key in self.functions:
            message = f"`{written.text}` with {key[2]} parameters is declared twice"
            way_out = "give one of them another name"
            raise self.error("PQ0505", message, written.span, way_out, "XQST0034")
        self.functions[key] = OwnFunction(name, declaration)

    def _lower_variable(self, entry: GlobalVariable) -> None:
        declaration = entry.declaration
        assert declaration is not None
        self.needs = entry.needs
        kind = self.optional_type(declaration.type)
        if declaration.value is not None:
            entry.lowered = q.Global(entry.unique, self.lower(declaration.value), kind)
            return
        name = declaration.name
        value = self.given.value_of(self.key_of(name), entry.span)
        if value is None:
            value = q.Unbound(name.text, entry.span, is_declared=True)
        entry.lowered = q.Global(entry.unique, value, kind)

    def _lower_called(self) -> list[q.Function]:
        """Return the functions that are called; the others are checked as well, and dropped."""
        lowered: list[q.Function] = []
        while len(lowered) < len(self.called):  # a body may call further ones
            own = self.called[len(lowered)]
            lowered.append(self._lower_function(own))
            if own.fault is not None:
                raise own.fault
        for own in self.functions.values():
            if own.index is None or own.index >= len(lowered):
                self._lower_function(own)
        return lowered

    def _lower_function(self, own: OwnFunction) -> q.Function:
        declaration = own.declaration
        self.needs, self.under_way = own.needs, own
        self.has_context = False
        with self.block():
            parameters = [self._parameter(parameter) for parameter in declaration.parameters]
            result = self.optional_type(declaration.result)
            body = self.lower(declaration.body)
        self.has_context, self.under_way = True, None
        return q.Function(own.name, tuple(parameters), body, result)

    def _parameter(self, parameter: y.Parameter) -> q.Parameter:
        if self.key_of(parameter.name) in self.variables:
            message = f"the parameter `${parameter.name.text}` stands twice"
            way_out = "give one of them another name"
            raise self.error("PQ0505", message, parameter.span, way_out, "XQST0039")
        kind = self.optional_type(parameter.type)
        return q.Parameter(self.bind(parameter.name), kind)

    # The order of variables

    def _ordered_variables(self) -> Iterator[q.Global]:
        """Yield the variables so that each comes behind those that its value needs."""
        bodies = [own.needs for own in self.called]
        needed = {key: self._reached(entry.needs, bodies) for key, entry in self.globals.items()}
        places = {key: place for place, key in enumerate(self.globals)}
        missing = {key: len(needs) for key, needs in needed.items()}
        needed_by: dict[Key, list[Key]] = {key: [] for key in needed}
        for key, needs in needed.items():
            for need in needs:
                needed_by[need].append(key)
        ready = [key for key, count in missing.items() if not count]
        while ready:
            following: list[Key] = []
            for key in ready:
                lowered = self.globals[key].lowered
                assert lowered is not None
                yield lowered
                for user in needed_by[key]:
                    missing[user] -= 1
                    if not missing[user]:
                        following.append(user)
            ready = sorted(following, key=places.__getitem__)
        left = {key for key, count in missing.items() if count}
        if left:
            raise self._circle(needed, left)

    def _reached(self, needs: set[Key | int], bodies: list[set[Key | int]]) -> set[Key]:
        """Return the variables that are needed, by the functions that are called as well."""
        seen: set[Key | int] = set()
        waiting = [*needs]
        while waiting:
            need = waiting.pop()
            if need not in seen:
                seen.add(need)
                if isinstance(need, int):
                    waiting += bodies[need]
        return {need for need in seen if not isinstance(need, int)}

    def _circle(self, needed: dict[Key, set[Key]], left: set[Key]) -> Exception:
        """Return the error about a variable that its own value needs."""
        on_circle = min(left)
        for _ in left:  # from need to need, the walk comes to a circle
            on_circle = min(needed[on_circle] & left)
        entry = self.globals[on_circle]
        message = f"the value of `${entry.unique}` needs the variable itself"
        way_out = "give it a value that does not mention it, nor a function that does"
        return self.error("PQ0507", message, entry.span, way_out, "XQST0054")
