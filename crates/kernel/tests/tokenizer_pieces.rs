//! Cutting the input anywhere changes nothing.

mod support;

use penstock_kernel::limits::Limits;
use penstock_kernel::tokenizer::Tokenizer;
use support::{Outcome, read_limited, read_pieces};

/// Well-formed and malformed documents with everything that may be cut.
const DOCUMENTS: &[&str] = &[
    "<a/>",
    "\u{FEFF}<?xml version='1.0' encoding='utf-8' standalone='yes'?>\r\n<a>x</a>\r",
    "<a b='1' c=\"x &lt;&#x1F600;\r\n\ty\">é漢😀 ]] ]]] a]b\r\nc\rd\r\r\n&amp;&#65;</a >",
    "<p:a xmlns:p='u' xmlns='v' p:x='1' x='2'><b xmlns=''/><p:b/></p:a>",
    "<a><![CDATA[]]><![CDATA[x]]]]><![CDATA[>\r\n]\r]]>]<!-- - é\r\n --><?p?><?q  r?s ?></a>",
    "<!--a--><?b c?>\n<!DOCTYPE a [<!ENTITY e 'x<b c=\"&f;\">y&f;</b>z'><!ENTITY f '&#38;#60;é'>\
     <!ATTLIST a d CDATA 'v&f;' t NMTOKENS ' x  y '><!-- ]> ' --><?x ]> ' ?>]><a t=' p \n q'>&e;&f;</a>",
    "<!DOCTYPE a SYSTEM 'u' [<!ENTITY % p SYSTEM 'q'>%p;<!ENTITY e 'x'>]><a b='&e;'>&e;&x;</a><!-- -->",
    "<a><b></a></b>",
    "<a b='1' b='2'/>",
    "<a b='<'/>",
    "<a b='1",
    "<a <b/>",
    "<a x='é",
    "<a>]]></a>",
    "<a>x & y</a>",
    "<a>&nope;</a>",
    "<a>&#xD800;</a>",
    "<a><!-- -- --></a>",
    "<a><?xml x?></a>",
    "<a><![CDATA[ x",
    "<a>\r\n\r<é:b/></a>",
    "<a>\u{1}</a>",
    "<a>x\u{FFFE}</a>",
    "<a/>x",
    "<a/><b/>",
    "<a/><!DOCTYPE a>",
    " <?xml version='1.0'?><a/>",
    "<!DOCTYPE a [<!ENTITY x 'it's'>]><a/>",
    "<!DOCTYPE a [<!ELEMENT a (b,c|d)>]><a/>",
    "<!DOCTYPE a [<!ENTITY e '<b>'>]><a>\n&e;</b></a>",
    "<!DOCTYPE a [<!ENTITY e '&f;'><!ENTITY f '&e;'>]><a>&e;</a>",
    "<?xml version='1.0' encoding='nope'?><a/>",
    "<?xml version='1.0' encoding='UTF-16'?><a/>",
    "<a><b>\n<c>",
    "",
    "  \n ",
    "hello",
    "</a>",
    "<!x>",
    "<![CDATA[x]]><a/>",
    "<a><!DOCTYPE b></a>",
    "<a\n\n  b = 'c'\n\n d></a>",
];

fn documents() -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = DOCUMENTS
        .iter()
        .map(|text| text.as_bytes().to_vec())
        .collect();
    let wide = DOCUMENTS[2].encode_utf16();
    all.push(
        [0xFE, 0xFF]
            .into_iter()
            .chain(wide.clone().flat_map(u16::to_be_bytes))
            .collect(),
    );
    all.push(wide.flat_map(u16::to_le_bytes).chain([0]).collect());
    all.push(b"<?xml version='1.0' encoding='ISO-8859-1'?><a b='\xE9'>\x85\xFF</a>".to_vec());
    all.push(b"<?xml version='1.0' encoding='Shift_JIS'?><a>\x8a\xbf\x8e\x9a\x81</a>".to_vec());
    all.push(b"<?xml version='1.0' encoding='us-ascii'?><a>x\x80</a>".to_vec());
    all.push(b"<a>\n\xE2\x82x</a>".to_vec());
    all.push(b"<a x='\xE2\x82\xAC\xFF'>".to_vec());
    all.push(b"<a><!--\n\xF0\x9F\x98\x80".to_vec());
    all.push(b"<a>]\xE2\x82".to_vec());
    all
}

fn assert_same(whole: &Outcome, cut: &Outcome, document: &[u8], how: &str) {
    assert_eq!(whole, cut, "{how}: {}", String::from_utf8_lossy(document));
}

#[test]
fn every_cut_and_every_piece_size_gives_the_same_outcome() {
    let mut tokenizer = Tokenizer::new(Limits::NONE);
    for document in documents() {
        let whole = read_pieces(&mut tokenizer, [document.as_slice()]);
        for size in 1..document.len() {
            let cut = read_pieces(&mut tokenizer, document.chunks(size));
            assert_same(&whole, &cut, &document, &format!("pieces of {size}"));
        }
        for at in 0..document.len() {
            let (head, tail) = document.split_at(at);
            let cut = read_pieces(&mut tokenizer, [head, tail]);
            assert_same(&whole, &cut, &document, &format!("cut at {at}"));
        }
    }
}

#[test]
fn cuts_do_not_change_where_limits_are_passed() {
    for max in 1..40 {
        let limits = Limits {
            depth_max: max / 4 + 1,
            name_bytes_max: max,
            attributes_max: max / 8,
            attribute_bytes_max: max / 2,
            text_bytes_max: max,
            buffer_bytes_max: max,
            entity_bytes_max: max,
            entity_depth_max: max / 8,
            doctype_bytes_max: max * 8,
            document_bytes_max: max * 8,
            ..Limits::NONE
        };
        let mut tokenizer = Tokenizer::new(limits);
        for document in documents() {
            let whole = read_limited(&document, limits);
            for size in 1..5 {
                let cut = read_pieces(&mut tokenizer, document.chunks(size));
                assert_same(
                    &whole,
                    &cut,
                    &document,
                    &format!("limit {max}, pieces of {size}"),
                );
            }
        }
    }
}

#[test]
fn long_tokens_in_small_pieces_take_linear_time() {
    let long = "x".repeat(3_000_000);
    for document in [
        format!("<a b='{long}'/>"),
        format!("<a><!--{long}--></a>"),
        format!("<a><![CDATA[{long}]]></a>"),
        format!("<a>{long}</a>"),
        format!("<!DOCTYPE a [<!-- {long} -->]><a/>"),
    ] {
        let mut tokenizer = Tokenizer::new(Limits::NONE);
        let whole = read_pieces(&mut tokenizer, [document.as_bytes()]);
        assert_eq!(whole.result, Ok(()));
        assert_eq!(
            read_pieces(&mut tokenizer, document.as_bytes().chunks(1)),
            whole
        );
    }
}

#[test]
fn windows_inside_a_piece_do_not_show() {
    let mut text = String::from("<a>");
    for i in 0..9000 {
        text += &format!("<item id='{i}' é='ü'>text {i} ]] &amp; 漢字\r\n<!-- {i} --></item>\n");
    }
    text += "</a>";
    let mut tokenizer = Tokenizer::new(Limits::NONE);
    let whole = read_pieces(&mut tokenizer, [text.as_bytes()]);
    assert_eq!(whole.result, Ok(()));
    for size in [1000, 4096, 32 << 10, 100_001] {
        assert_eq!(
            read_pieces(&mut tokenizer, text.as_bytes().chunks(size)),
            whole
        );
    }
}
