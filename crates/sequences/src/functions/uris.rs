//! Functions of URIs.

use super::{Builtin, Call, STRING, URI, Values, empty, made::Made, one, optional, text_at, value};
use crate::atomic::Atomic;
use crate::error::{Error, Result};

pub(super) static BUILTINS: &[Builtin] = &[
    Builtin::new("encode-for-uri", &[optional(STRING)], one(STRING), |call| {
        escape(call, |c| c.is_ascii_alphanumeric() || "-_.~".contains(c))
    }),
    Builtin::new("iri-to-uri", &[optional(STRING)], one(STRING), |call| {
        escape(call, |c| c.is_ascii_graphic() && !"<>\"{}|\\^`".contains(c))
    }),
    Builtin::new(
        "escape-html-uri",
        &[optional(STRING)],
        one(STRING),
        |call| escape(call, |c| matches!(c, ' '..='~')),
    ),
    Builtin::new(
        "resolve-uri",
        &[optional(STRING), one(STRING)],
        optional(URI),
        resolve,
    ),
];

/// The text with every character but some written as `%` and its bytes.
fn escape(call: &mut Call<'_>, is_kept: impl Fn(char) -> bool) -> Result<Values> {
    let mut escaped = Made::new(call.meter);
    let mut bytes = [0; 4];
    for character in text_at(call.arguments, 0).chars() {
        let written = character.encode_utf8(&mut bytes);
        if is_kept(character) {
            escaped.push_str(written);
            continue;
        }
        for byte in written.bytes() {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped.finish()
}

fn resolve(call: &mut Call<'_>) -> Result<Values> {
    let Some(relative) = call.optional_text(0) else {
        return empty();
    };
    let reference = Reference::new(relative);
    if reference.scheme.is_some() {
        return value(Atomic::AnyUri(relative.into()));
    }
    let base = Reference::new(call.text(1));
    if base.scheme.is_none() || base.authority.is_none() && !base.path.starts_with('/') {
        let reason = format!("`{}` is not an absolute, hierarchical URI", call.text(1));
        return Err(Error::new("FORG0002", reason));
    }
    value(Atomic::AnyUri(reference.against(&base).into()))
}

/// The parts of a URI reference, as RFC 3986 takes it apart.
struct Reference<'a> {
    scheme: Option<&'a str>,
    authority: Option<&'a str>,
    path: &'a str,
    query: Option<&'a str>,
    fragment: Option<&'a str>,
}

impl<'a> Reference<'a> {
    fn new(text: &'a str) -> Self {
        let (rest, fragment) = split(text, '#');
        let (rest, query) = split(rest, '?');
        let (scheme, rest) = match rest.split_once(':') {
            Some((scheme, rest)) if is_scheme(scheme) => (Some(scheme), rest),
            _ => (None, rest),
        };
        let (authority, path) = match rest.strip_prefix("//") {
            Some(rest) => {
                let end = rest.find('/').unwrap_or(rest.len());
                (Some(&rest[..end]), &rest[end..])
            }
            None => (None, rest),
        };
        Reference {
            scheme,
            authority,
            path,
            query,
            fragment,
        }
    }

    /// The reference as a whole URI, starting from a base (RFC 3986, section 5.2.2).
    fn against(&self, base: &Self) -> String {
        let has_own_path = self.authority.is_some() || !self.path.is_empty();
        let path = if self.authority.is_some() || self.path.starts_with('/') {
            without_dots(self.path)
        } else if self.path.is_empty() {
            base.path.to_owned()
        } else {
            without_dots(&merged(base, self.path))
        };
        let query = if has_own_path {
            self.query
        } else {
            self.query.or(base.query)
        };
        let mut uri = format!("{}:", base.scheme.unwrap_or(""));
        for (mark, part) in [
            ("//", self.authority.or(base.authority)),
            ("", Some(path.as_str())),
            ("?", query),
            ("#", self.fragment),
        ] {
            if let Some(part) = part {
                uri.push_str(mark);
                uri.push_str(part);
            }
        }
        uri
    }
}

fn split(text: &str, mark: char) -> (&str, Option<&str>) {
    match text.split_once(mark) {
        Some((before, after)) => (before, Some(after)),
        None => (text, None),
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

/// A relative path in the place of the last part of the base's path.
fn merged(base: &Reference<'_>, path: &str) -> String {
    match base.path.rfind('/') {
        Some(end) => format!("{}{path}", &base.path[..=end]),
        None => format!("/{path}"),
    }
}

/// A path without `.` and `..` (RFC 3986, section 5.2.4).
fn without_dots(path: &str) -> String {
    let (root, relative) = match path.strip_prefix('/') {
        Some(relative) => ("/", relative),
        None => ("", path),
    };
    let mut parts: Vec<&str> = Vec::new();
    let mut segments = relative.split('/').peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    parts.pop();
                }
                if is_last {
                    parts.push("");
                }
            }
            _ => parts.push(segment),
        }
    }
    format!("{root}{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use crate::functions::testing::{fails, gives, says};

    #[test]
    fn each_function_keeps_other_characters() {
        says("encode-for-uri", &["s:a/b~é%"], "a%2Fb~%C3%A9%25");
        says(
            "iri-to-uri",
            &["s:http://x/a b#ö<%20>"],
            "http://x/a%20b#%C3%B6%3C%20%3E",
        );
        says("escape-html-uri", &["s:a b(é)"], "a b(%C3%A9)");
        says("encode-for-uri", &["()"], "");
    }

    /// The examples of RFC 3986, sections 5.4.1 and 5.4.2.
    #[test]
    fn references_are_resolved_as_the_standard_says() {
        for (reference, expected) in [
            ("g:h", "g:h"),
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q#s"),
            ("g;x?y#s", "http://a/b/c/g;x?y#s"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../..", "http://a/"),
            ("../../../g", "http://a/g"),
            ("/./g", "http://a/g"),
            ("g.", "http://a/b/c/g."),
            ("..g", "http://a/b/c/..g"),
            ("g/./h", "http://a/b/c/g/h"),
            ("g;x=1/../y", "http://a/b/c/y"),
            ("g?y/../x", "http://a/b/c/g?y/../x"),
        ] {
            let expected = format!("anyURI:{expected}");
            let reference = format!("s:{reference}");
            gives(
                "resolve-uri",
                &[&reference, "s:http://a/b/c/d;p?q"],
                &expected,
            );
        }
        gives("resolve-uri", &["()", "s:http://a/"], "()");
        gives("resolve-uri", &["s:b", "s:http://a"], "anyURI:http://a/b");
        fails("resolve-uri", &["s:b", "s:a"], "FORG0002");
        fails("resolve-uri", &["s:b", "s:urn:x"], "FORG0002");
    }
}
