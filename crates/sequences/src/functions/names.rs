//! Functions of QNames.

use std::rc::Rc;

use super::{Builtin, Call, QNAME, STRING, URI, Values, empty, one, optional, string, value};
use crate::atomic::{Atomic, QName, is_ncname};
use crate::error::{Error, Result};

pub(super) static BUILTINS: &[Builtin] = &[
    Builtin::new("QName", &[optional(STRING), one(STRING)], one(QNAME), make),
    Builtin::new(
        "prefix-from-QName",
        &[optional(QNAME)],
        optional(STRING),
        |call| match name(call) {
            Some(name) if !name.prefix.is_empty() => string(&*name.prefix),
            _ => empty(),
        },
    ),
    Builtin::new(
        "local-name-from-QName",
        &[optional(QNAME)],
        optional(STRING),
        |call| name(call).map_or_else(empty, |name| string(&*name.local)),
    ),
    Builtin::new(
        "namespace-uri-from-QName",
        &[optional(QNAME)],
        optional(URI),
        |call| name(call).map_or_else(empty, |name| value(Atomic::AnyUri((&*name.uri).into()))),
    ),
];

fn name<'a>(call: &'a Call<'_>) -> Option<&'a QName> {
    match call.value(0) {
        Some(Atomic::QName(name)) => Some(name),
        _ => None,
    }
}

fn make(call: &mut Call<'_>) -> Result<Values> {
    let (uri, written) = (call.text(0), call.text(1));
    let (prefix, local) = match written.split_once(':') {
        Some((prefix, local)) if is_ncname(prefix) => (prefix, local),
        Some(_) => ("", ""),
        None => ("", written),
    };
    if !is_ncname(local) {
        return Err(Error::new(
            "FOCA0002",
            format!("`{written}` is not a QName"),
        ));
    }
    if uri.is_empty() && !prefix.is_empty() {
        let reason = format!("`{written}` has a prefix, so it needs a namespace name");
        return Err(Error::new("FOCA0002", reason));
    }
    let name = QName {
        prefix: prefix.into(),
        uri: uri.into(),
        local: local.into(),
    };
    value(Atomic::QName(Rc::new(name)))
}

#[cfg(test)]
mod tests {
    use crate::functions::testing::{fails, gives, says};

    #[test]
    fn names_are_made_and_taken_apart() {
        gives("QName", &["s:urn:x", "s:a:b"], "QName:a:b");
        gives("QName", &["()", "s:b"], "QName:b");
        says("prefix-from-QName", &["QName:{urn:x}a:b"], "a");
        gives("prefix-from-QName", &["QName:{urn:x}b"], "()");
        says("local-name-from-QName", &["QName:{urn:x}a:b"], "b");
        gives(
            "namespace-uri-from-QName",
            &["QName:{urn:x}a:b"],
            "anyURI:urn:x",
        );
        gives("namespace-uri-from-QName", &["QName:b"], "anyURI:");
        gives("local-name-from-QName", &["()"], "()");
    }

    #[test]
    fn what_is_no_name_is_an_error() {
        for written in ["s:", "s:1", "s::b", "s:a:", "s:a:b:c", "s:a b"] {
            fails("QName", &["s:urn:x", written], "FOCA0002");
        }
        fails("QName", &["()", "s:a:b"], "FOCA0002");
    }
}
