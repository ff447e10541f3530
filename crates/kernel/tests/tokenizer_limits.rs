//! Every limit holds at its bound and is passed one past it.

mod support;

use penstock_kernel::error::ErrorKind;
use penstock_kernel::limits::Limits;
use support::read_limited;

/// The limit that a document passes, with its byte.
fn passed(text: &str, limits: Limits) -> Option<(&'static str, u64)> {
    match read_limited(text.as_bytes(), limits).result {
        Ok(()) => None,
        Err(error) => match error.kind {
            ErrorKind::Limit(field) => Some((field, error.byte)),
            ErrorKind::Malformed | ErrorKind::Query(_) | ErrorKind::Interrupted => {
                panic!("{error}: {text}")
            }
        },
    }
}

#[test]
fn depth() {
    let limits = Limits {
        depth_max: 3,
        ..Limits::NONE
    };
    assert_eq!(passed("<a><b><c/></b></a>", limits), None);
    assert_eq!(
        passed("<a><b><c><d/></c></b></a>", limits),
        Some(("depth_max", 9))
    );
}

#[test]
fn name_bytes() {
    let limits = Limits {
        name_bytes_max: 4,
        ..Limits::NONE
    };
    assert_eq!(
        passed("<abcd efgh='1'><?ijkl?>&#65;&amp;</abcd>", limits),
        None
    );
    assert_eq!(passed("<abcde/>", limits), Some(("name_bytes_max", 1)));
    assert_eq!(
        passed("<a bcdef='1'/>", limits),
        Some(("name_bytes_max", 3))
    );
    assert_eq!(
        passed("<a><?bcdef?></a>", limits),
        Some(("name_bytes_max", 3))
    );
    assert_eq!(
        passed("<a>&bcdef;</a>", limits),
        Some(("name_bytes_max", 3))
    );
    let doctype = "<!DOCTYPE a [<!ELEMENT bcdef ANY>]><a/>";
    assert_eq!(passed(doctype, limits), Some(("name_bytes_max", 23)));
}

#[test]
fn attributes() {
    let limits = Limits {
        attributes_max: 2,
        ..Limits::NONE
    };
    assert_eq!(passed("<a b='' c=''/>", limits), None);
    assert_eq!(
        passed("<a b='' c='' d=''/>", limits),
        Some(("attributes_max", 13))
    );
    let defaulted = "<!DOCTYPE a [<!ATTLIST a d CDATA ''>]><a b='' c=''/>";
    assert_eq!(passed(defaulted, limits), Some(("attributes_max", 38)));
}

#[test]
fn attribute_bytes() {
    let limits = Limits {
        attribute_bytes_max: 4,
        ..Limits::NONE
    };
    assert_eq!(
        passed("<a b='1234' c='&amp;&lt;&gt;é'/>", limits),
        Some(("attribute_bytes_max", 12))
    );
    assert_eq!(passed("<a b='1234' c='&amp;&lt;é'/>", limits), None);
    assert_eq!(
        passed("<a b='12345'/>", limits),
        Some(("attribute_bytes_max", 3))
    );
}

#[test]
fn text_bytes_of_a_token() {
    let limits = Limits {
        text_bytes_max: 40,
        name_bytes_max: 8,
        buffer_bytes_max: 50,
        ..Limits::NONE
    };
    for (head, tail, bytes_max, field) in [
        ("<!--", "-->", 40, "text_bytes_max"),
        // Its target counts.
        ("<?", "?>", 40, "text_bytes_max"),
        // A tag is no text.
        ("<b c='", "'/>", 50 - "<b c=''/>".len(), "buffer_bytes_max"),
    ] {
        let token = |length: usize| {
            format!(
                "<a>{head}{}{tail}</a>",
                "p x ".repeat(99).get(..length).unwrap()
            )
        };
        assert_eq!(passed(&token(bytes_max), limits), None, "{head}");
        assert_eq!(
            passed(&token(bytes_max + 1), limits),
            Some((field, 3)),
            "{head}"
        );
    }
    // Text and CDATA sections are never assembled.
    assert_eq!(
        passed(
            &format!("<a>{0}<![CDATA[{0}]]></a>", "x".repeat(99)),
            limits
        ),
        None
    );
}

#[test]
fn entity_bytes() {
    let limits = Limits {
        entity_bytes_max: 6,
        ..Limits::NONE
    };
    let document = |content: &str| format!("<!DOCTYPE a [<!ENTITY e 'xyz'>]>{content}");
    assert_eq!(passed(&document("<a b='&e;'>&e;</a>"), limits), None);
    let past = Some(("entity_bytes_max", 46));
    assert_eq!(passed(&document("<a b='&e;'>&e;&e;</a>"), limits), past);
}

#[test]
fn entity_depth() {
    let limits = Limits {
        entity_depth_max: 2,
        ..Limits::NONE
    };
    let document = |content: &str| {
        let subset = "<!ENTITY e '&f;'><!ENTITY f '&g;'><!ENTITY g 'x'>";
        format!("<!DOCTYPE a [{subset}]>{content}")
    };
    assert_eq!(passed(&document("<a b='&f;'>&f;</a>"), limits), None);
    assert_eq!(
        passed(&document("<a>&e;</a>"), limits),
        Some(("entity_depth_max", 67))
    );
    assert_eq!(
        passed(&document("<a b='&e;'/>"), limits),
        Some(("entity_depth_max", 67))
    );
}

#[test]
fn doctype_bytes() {
    let limits = Limits {
        doctype_bytes_max: 20,
        ..Limits::NONE
    };
    assert_eq!(
        passed(&format!("<!DOCTYPE a{}><a/>", " ".repeat(8)), limits),
        None
    );
    let past = format!("<!DOCTYPE a{}><a/>", " ".repeat(9));
    assert_eq!(passed(&past, limits), Some(("doctype_bytes_max", 0)));
}

#[test]
fn document_bytes() {
    let limits = Limits {
        document_bytes_max: 8,
        ..Limits::NONE
    };
    assert_eq!(passed("<a>x</a>", limits), None);
    assert_eq!(passed("<a>xy</a>", limits), Some(("document_bytes_max", 8)));
}

#[test]
fn many_laughs_are_cut_off_early() {
    let mut text = String::from("<!DOCTYPE a [<!ENTITY e0 'lol'>");
    for i in 1..10 {
        text += &format!("<!ENTITY e{i} '{}'>", format!("&e{};", i - 1).repeat(10));
    }
    text += "]><a>&e9;</a>";
    let limits = Limits {
        entity_bytes_max: 8 << 20,
        ..Limits::NONE
    };
    assert_eq!(
        passed(&text, limits).map(|limit| limit.0),
        Some("entity_bytes_max")
    );
    let text = text.replace("<a>&e9;</a>", "<a b='&e9;'/>");
    assert_eq!(
        passed(&text, limits).map(|limit| limit.0),
        Some("entity_bytes_max")
    );
}
