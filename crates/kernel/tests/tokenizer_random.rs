//! Random documents, random cuts, random damage.

mod support;

use penstock_kernel::limits::Limits;
use penstock_kernel::tokenizer::Tokenizer;
use proptest::prelude::*;
use support::{Outcome, read, read_pieces};

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "a",
        "b",
        "item",
        "p:a",
        "p:long_name.x-1",
        "é",
        "漢字",
    ])
    .prop_map(str::to_owned)
}

fn text() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "x",
        " ",
        "\r\n",
        "\r",
        "\n",
        "]",
        "]]",
        "&lt;",
        "&#x1F600;",
        "&e;",
        "&m;",
        "é",
        "漢",
        "😀",
        "some longer run of text that is longer than a register",
        "<![CDATA[<&]]]>",
        "<!-- c -->",
        "<?p i?>",
        "<![CDATA[]]>",
    ]);
    prop::collection::vec(part, 0..8).prop_map(|parts| parts.concat())
}

fn value() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec!["x", " ", "\t", "\r\n", "&amp;", "&e;", ">", "'", "é"]);
    prop::collection::vec(part, 0..6).prop_map(|parts| parts.concat())
}

fn attributes() -> impl Strategy<Value = String> {
    prop::option::of(("[c-f]", value())).prop_map(|attribute| match attribute {
        Some((name, value)) => format!(" {name}=\"{value}\""),
        None => String::new(),
    })
}

fn element() -> impl Strategy<Value = String> {
    let leaf = (name(), attributes(), text())
        .prop_map(|(name, attributes, text)| format!("<{name}{attributes}>{text}</{name} >"));
    leaf.prop_recursive(5, 40, 5, |inner| {
        let children = prop::collection::vec((inner, text()), 0..5);
        (name(), attributes(), children).prop_map(|(name, attributes, children)| {
            let content: String = children
                .into_iter()
                .map(|(child, text)| child + &text)
                .collect();
            format!("<{name}{attributes}>{content}</{name}>")
        })
    })
}

fn document() -> impl Strategy<Value = Vec<u8>> {
    (prop::bool::ANY, element()).prop_map(|(is_wide, element)| {
        let text = format!(
            "<!DOCTYPE r [<!ENTITY e 'en &#38;amp; ti'><!ENTITY m '<b c=\"&e;\">&e;</b>'>\
             <!ATTLIST item d NMTOKENS ' 1  2 '>]>\n<r xmlns:p='urn:u'>{element}</r>"
        );
        if is_wide {
            text.encode_utf16().flat_map(u16::to_be_bytes).collect()
        } else {
            text.into_bytes()
        }
    })
}

fn cut(document: &[u8], lengths: &[usize]) -> Outcome {
    let mut rest = document;
    let mut pieces = Vec::new();
    for length in lengths.iter().cycle() {
        let (piece, more) = rest.split_at(rest.len().min(*length));
        pieces.push(piece);
        rest = more;
        if rest.is_empty() {
            break;
        }
    }
    read_pieces(&mut Tokenizer::new(Limits::NONE), pieces)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn cuts_do_not_change_well_formed_documents(
        document in document(),
        lengths in prop::collection::vec(1_usize..40, 1..10),
    ) {
        let whole = read(&document);
        prop_assert_eq!(&whole.result, &Ok(()));
        prop_assert_eq!(whole, cut(&document, &lengths));
    }

    #[test]
    fn damage_gives_the_same_error_however_cut(
        document in document(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        markup in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..12), 0..4),
        lengths in prop::collection::vec(1_usize..20, 1..6),
    ) {
        let mut document = document;
        for (at, byte) in damage {
            let at = at.index(document.len());
            document[at] = byte;
        }
        for (at, which) in markup {
            let at = at.index(document.len());
            document[at] = b"<>&;'\"![]%/\0"[which];
        }
        prop_assert_eq!(read(&document), cut(&document, &lengths));
    }

    #[test]
    fn noise_never_panics(noise in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&noise);
        let pieces = [b"<!DOCTYPE a [".as_slice(), &noise];
        let _ = read_pieces(&mut Tokenizer::new(Limits::NONE), pieces);
    }

    #[test]
    fn markup_noise_is_the_same_however_cut(noise in "[<>!\\[\\]?/&;='\"a-cDOCTYPE %#\\-\r\n]{0,60}") {
        for head in ["", "<a>", "<!DOCTYPE a [", "<a><![CDATA[", "<a b='"] {
            let document = format!("{head}{noise}");
            prop_assert_eq!(read(document.as_bytes()), cut(document.as_bytes(), &[1]));
        }
    }
}
