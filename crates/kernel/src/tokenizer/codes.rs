//! Stable codes of everything that can be wrong with a document.
//!
//! `PD` codes are malformed documents, `PL` codes passed limits. A code is never reused.

macro_rules! codes {
    ($($name:ident = $code:literal, $title:literal;)*) => {
        $(#[doc = $title] pub const $name: &str = $code;)*
        /// Every code with its short title, in order.
        pub const TITLES: &[(&str, &str)] = &[$(($code, $title)),*];
    };
}

codes! {
    UNKNOWN_ENCODING = "PD0001", "The declared encoding is not known.";
    BAD_BYTES = "PD0002", "Bytes that mean nothing in the document's encoding.";
    BAD_CHARACTER = "PD0003", "A character that XML does not allow.";
    ENCODING_CONFLICT = "PD0004", "The declared encoding contradicts the bytes.";
    BAD_DECLARATION = "PD0005", "A malformed XML declaration.";
    BAD_NAME = "PD0006", "A malformed name.";
    MISMATCHED_TAG = "PD0007", "An end tag that closes another element.";
    BAD_TAG = "PD0008", "A malformed tag.";
    BAD_ATTRIBUTE = "PD0009", "A malformed attribute.";
    DUPLICATE_ATTRIBUTE = "PD0010", "An attribute given twice.";
    MARKUP_IN_VALUE = "PD0011", "A `<` in an attribute value.";
    BAD_REFERENCE = "PD0012", "A malformed reference.";
    BAD_CHARACTER_REFERENCE = "PD0013", "A reference to a character that XML does not allow.";
    UNDECLARED_ENTITY = "PD0014", "A reference to an entity that is not declared.";
    RECURSIVE_ENTITY = "PD0015", "An entity that contains itself.";
    FORBIDDEN_ENTITY = "PD0016", "A reference to an entity that may not stand there.";
    UNBALANCED_ENTITY = "PD0017", "An entity that is not well-formed by itself.";
    CDATA_END_IN_TEXT = "PD0018", "A `]]>` in character data.";
    BAD_COMMENT = "PD0019", "A malformed comment.";
    BAD_INSTRUCTION = "PD0020", "A malformed processing instruction.";
    UNDECLARED_PREFIX = "PD0021", "A namespace prefix that is not declared.";
    RESERVED_NAMESPACE = "PD0022", "A reserved prefix or namespace used against its definition.";
    UNDECLARED_NAMESPACE = "PD0023", "A prefix bound to no namespace.";
    TEXT_OUTSIDE_ROOT = "PD0024", "Character data outside the root element.";
    SECOND_ROOT = "PD0025", "An element after the root element.";
    UNEXPECTED_END = "PD0026", "The document ends too early.";
    NO_ROOT = "PD0027", "The document has no element.";
    BAD_MARKUP = "PD0028", "Markup that XML does not know.";
    BAD_DOCTYPE = "PD0029", "A malformed document type declaration.";
    MISPLACED_DOCTYPE = "PD0030", "A document type declaration in the wrong place.";
    BAD_ELEMENT_DECLARATION = "PD0031", "A malformed element declaration.";
    BAD_ATTLIST_DECLARATION = "PD0032", "A malformed attribute list declaration.";
    BAD_ENTITY_DECLARATION = "PD0033", "A malformed entity declaration.";
    BAD_NOTATION_DECLARATION = "PD0034", "A malformed notation declaration.";
    MISPLACED_PARAMETER = "PD0035", "A parameter entity reference inside a declaration.";
    DEPTH = "PL0001", "More open elements than `depth_max`.";
    NAME_BYTES = "PL0002", "A name longer than `name_bytes_max`.";
    ATTRIBUTES = "PL0003", "More attributes than `attributes_max`.";
    ATTRIBUTE_BYTES = "PL0004", "An attribute value longer than `attribute_bytes_max`.";
    TEXT_BYTES = "PL0005", "A token or value longer than `text_bytes_max`.";
    CANDIDATES = "PL0006", "More candidates than `candidates_max`.";
    BUFFER_BYTES = "PL0007", "More input held than `buffer_bytes_max`.";
    ENTITY_BYTES = "PL0008", "Entities add more than `entity_bytes_max`.";
    ENTITY_DEPTH = "PL0009", "Entities nested deeper than `entity_depth_max`.";
    DOCTYPE_BYTES = "PL0010", "A document type declaration longer than `doctype_bytes_max`.";
    DOCUMENT_BYTES = "PL0011", "A document longer than `document_bytes_max`.";
    PAIRS = "PL0012", "More pairs of nodes than `pairs_max`.";
    MEMORY_BYTES = "PL0013", "A document costs more memory than `memory_bytes_max`.";
    STEPS = "PL0014", "A document takes more work than `steps_max`.";
    SECONDS = "PL0015", "A document takes longer than `seconds_max`.";
    RESULTS = "PL0016", "More results of a subscription than `results_max`.";
    INTERRUPTED = "PL0017", "The work was interrupted.";
    SUSPENDED = "PL0018", "A subscription is suspended, since it kept passing limits.";
    RECURSION = "PL0021", "Functions of a query call each other deeper than `recursion_max`.";
    QUERY = "PX0001", "A query has no value for the document.";
}

#[cfg(test)]
mod tests {
    use super::TITLES;

    #[test]
    fn codes_are_unique_and_in_order() {
        assert!(TITLES.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
