"""The atomic types of XQuery that are supported, by their local names in ``xs``."""

from __future__ import annotations

CAST_TYPES = frozenset(
    {
        "string",
        "untypedAtomic",
        "anyURI",
        "boolean",
        "integer",
        "decimal",
        "float",
        "double",
        "QName",
        "date",
        "time",
        "dateTime",
        "duration",
        "dayTimeDuration",
        "yearMonthDuration",
    }
)
"""What values can be cast to, and constructor functions are named after."""

ATOMIC_TYPES = CAST_TYPES | {"anyAtomicType"}
"""What a sequence type may name."""

UNSUPPORTED_TYPES = {
    **dict.fromkeys(
        (
            "int",
            "long",
            "short",
            "byte",
            "nonNegativeInteger",
            "positiveInteger",
            "nonPositiveInteger",
            "negativeInteger",
            "unsignedLong",
            "unsignedInt",
            "unsignedShort",
            "unsignedByte",
        ),
        "xs:integer",
    ),
    **dict.fromkeys(
        (
            "normalizedString",
            "token",
            "language",
            "Name",
            "NCName",
            "NMTOKEN",
            "ID",
            "IDREF",
            "ENTITY",
            "hexBinary",
            "base64Binary",
            "NMTOKENS",
            "IDREFS",
            "ENTITIES",
        ),
        "xs:string",
    ),
    **dict.fromkeys(("gYear", "gYearMonth", "gMonth", "gMonthDay", "gDay"), "xs:date"),
}
"""Types of XML Schema that are not supported, and what to use instead."""

UNTYPED = {
    "element": frozenset({"untyped", "anyType"}),
    "attribute": frozenset({"untypedAtomic", "anyAtomicType", "anySimpleType", "anyType"}),
}
"""The types that every node has where there is no schema."""
