//! What documents become: events, values, spans, errors.

mod support;

use penstock_kernel::limits::Limits;
use penstock_kernel::tokenizer::{Tokenizer, codes};
use support::{Outcome, Recorder, error, read, read_pieces};

fn lines(text: &str) -> Vec<String> {
    let Outcome { lines, result } = read(text.as_bytes());
    assert_eq!(result, Ok(()), "{text}");
    lines
}

#[test]
fn tags_attributes_and_text_carry_their_spans() {
    assert_eq!(
        lines("<a b='1'>x<c/></a>"),
        [
            "start {}a 1 {}b=\"1\" 3..8 0..9",
            "text \"x\" 9..10",
            "start {}c 1 10..14",
            "end 10..14",
            "end 14..18",
        ]
    );
}

#[test]
fn references_cdata_and_line_ends_are_one_text() {
    assert_eq!(
        lines("<a>x&lt;\r\ny<![CDATA[<&]]>&#233;\r</a>")[1],
        "text \"x<\\ny<&é\\n\" 3..32"
    );
    assert_eq!(lines("<a>x<![CDATA[]]>y</a>")[1], "text \"xy\" 3..17");
}

#[test]
fn attribute_values_are_normalised() {
    let line = &lines("<a b='x\t\r\n\ny&#10;&amp; z'/>")[0];
    assert!(line.contains("{}b=\"x   y\\n& z\" 3..25"), "{line}");
}

#[test]
fn names_are_bound_to_namespaces_and_declarations_are_no_attributes() {
    assert_eq!(
        lines("<p:a xmlns:p='u' xmlns='v' p:x='1' x='2'><b xmlns=''/></p:a>")[..2],
        [
            "start {u}p:a 1 {u}p:x=\"1\" 27..34 {}x=\"2\" 35..40 xmlns:p=u xmlns:=v 0..41",
            "start {}b 1 xmlns:= 41..54",
        ]
    );
    let line = &lines("<a xml:lang='en'/>")[0];
    assert!(
        line.contains("{http://www.w3.org/XML/1998/namespace}xml:lang"),
        "{line}"
    );
}

#[test]
fn prolog_and_epilog_report_comments_and_instructions() {
    assert_eq!(
        lines("<?xml version='1.0'?><!--a--><?b c ?><!DOCTYPE d [<!--no--><?no no?>]><d/><!--e-->"),
        [
            "comment \"a\" 21..29",
            "instruction b \"c \" 29..37",
            "start {}d 1 70..74",
            "end 70..74",
            "comment \"e\" 74..82",
        ]
    );
}

#[test]
fn entities_are_read_in_place_and_carry_the_span_of_their_reference() {
    let text =
        "<!DOCTYPE a [<!ENTITY e 'x<b c=\"&f;\">&f;</b>'><!ENTITY f '1&#38;lt;'>]><a>&e;</a>";
    let at = text.find("&e;</a>").expect("there") as u64;
    let span = format!("{at}..{}", at + 3);
    assert_eq!(
        lines(text)[1..5],
        [
            format!("text \"x\" {span}"),
            format!("start {{}}b 1 {{}}c=\"1<\" {span} {span}"),
            format!("text \"1<\" {span}"),
            format!("end {span}"),
        ]
    );
}

#[test]
fn declared_attributes_are_defaulted_and_tokenised() {
    let text = "<!DOCTYPE a [<!ATTLIST a t NMTOKENS #IMPLIED d CDATA ' v ' xmlns:p CDATA #FIXED 'u' \
                p:q (x|y) 'x'><!ATTLIST a d CDATA 'late'>]><a t='  1   2 '/>";
    let line = &lines(text)[0];
    let span = format!("{}..{}", text.len() - 17, text.len());
    assert!(line.contains("{}t=\"1 2\""), "{line}");
    assert!(
        line.contains(&format!(
            "{{}}d=\" v \" {span} {{u}}p:q=\"x\" {span} xmlns:p=u"
        )),
        "{line}"
    );
}

#[test]
fn what_is_elsewhere_is_not_read() {
    let unread = "<!DOCTYPE a [<!ENTITY x SYSTEM 'f'><!ENTITY % p SYSTEM 'g'>%p;<!ENTITY y 'z'>]>";
    assert_eq!(
        lines(&format!("{unread}<a>1&x;2&y;3&q;</a>"))[1],
        "text \"123\" 82..94"
    );
    assert_eq!(
        lines("<!DOCTYPE a SYSTEM 'u'><a b='1&q;2'>&q;</a>")[1],
        "text \"\" 36..39"
    );
    let standalone = "<?xml version='1.0' standalone='yes'?>";
    assert!(lines(&format!("{standalone}{unread}<a>&y;</a>"))[1].starts_with("text \"z\""));
    let text = format!("{standalone}{unread}<a>&q;</a>");
    assert_eq!(error(&text), Some((codes::UNDECLARED_ENTITY, 120)));
}

#[test]
fn parameter_entities_stand_for_whole_declarations() {
    let text =
        "<!DOCTYPE a [<!ENTITY % p '&#37;q;'><!ENTITY % q '<!ENTITY e \"x\">'>%p;]><a>&e;</a>";
    assert!(lines(text)[1].starts_with("text \"x\""));
    for (subset, code) in [
        (
            "<!ENTITY % p '<!ELEMENT'>%p; a ANY>",
            codes::BAD_ELEMENT_DECLARATION,
        ),
        (
            "<!ENTITY % p 'ANY'><!ELEMENT a %p;>",
            codes::MISPLACED_PARAMETER,
        ),
        ("<!ENTITY % p '&#37;p;'>%p;", codes::RECURSIVE_ENTITY),
        ("<![INCLUDE[]]>", codes::BAD_DOCTYPE),
    ] {
        let text = format!("<!DOCTYPE a [{subset}]><a/>");
        assert_eq!(error(&text).map(|(code, _)| code), Some(code), "{text}");
    }
}

#[test]
fn errors_have_code_and_byte() {
    for (text, code, byte) in [
        ("<a><b></a></b>", codes::MISMATCHED_TAG, 6),
        ("<a b='1' b='2'/>", codes::DUPLICATE_ATTRIBUTE, 9),
        (
            "<a xmlns:p='u' xmlns:q='u' p:x='' q:x=''/>",
            codes::DUPLICATE_ATTRIBUTE,
            34,
        ),
        ("<a b='<'/>", codes::MARKUP_IN_VALUE, 6),
        ("<a b=1/>", codes::BAD_ATTRIBUTE, 5),
        ("<a b='1'c='2'/>", codes::BAD_TAG, 8),
        ("<a>]]></a>", codes::CDATA_END_IN_TEXT, 3),
        ("<a>& </a>", codes::BAD_REFERENCE, 3),
        ("<a>&x;</a>", codes::UNDECLARED_ENTITY, 3),
        ("<a><!-- -- --></a>", codes::BAD_COMMENT, 8),
        ("<a><?XML?></a>", codes::BAD_INSTRUCTION, 3),
        ("<p:a/>", codes::UNDECLARED_PREFIX, 0),
        ("<a p:b='1'/>", codes::UNDECLARED_PREFIX, 3),
        ("<a xmlns:p=''/>", codes::UNDECLARED_NAMESPACE, 3),
        ("<a xmlns:xml='u'/>", codes::RESERVED_NAMESPACE, 3),
        ("<xmlns:a/>", codes::UNDECLARED_PREFIX, 0),
        ("<a:b:c xmlns:a='u'/>", codes::BAD_NAME, 1),
        ("x<a/>", codes::TEXT_OUTSIDE_ROOT, 0),
        ("<a/><b/>", codes::SECOND_ROOT, 4),
        ("<a>", codes::UNEXPECTED_END, 3),
        ("<!-- -->", codes::NO_ROOT, 8),
        ("<a><!x></a>", codes::BAD_MARKUP, 3),
        ("<a/><!DOCTYPE a>", codes::MISPLACED_DOCTYPE, 4),
        ("<a>\u{B}</a>", codes::BAD_CHARACTER, 3),
        (
            "<?xml version='1.0' encoding='x-no'?><a/>",
            codes::UNKNOWN_ENCODING,
            2,
        ),
        (
            "<?xml version='1.0' encoding='utf-16'?><a/>",
            codes::ENCODING_CONFLICT,
            2,
        ),
        ("<?xml version='2.0'?><a/>", codes::BAD_DECLARATION, 19),
        (
            "<!DOCTYPE a [<!ENTITY e '<b>'>]><a>&e;</b></a>",
            codes::UNBALANCED_ENTITY,
            35,
        ),
        (
            "<!DOCTYPE a [<!ENTITY e '&e;'>]><a>&e;</a>",
            codes::RECURSIVE_ENTITY,
            35,
        ),
        (
            "<!DOCTYPE a [<!ENTITY e SYSTEM 'u'>]><a b='&e;'/>",
            codes::FORBIDDEN_ENTITY,
            40,
        ),
    ] {
        assert_eq!(error(text), Some((code, byte)), "{text}");
    }
}

#[test]
fn errors_name_what_was_found_and_where() {
    let fault = read(b"<orders>\n<order>\r\n <x/></item>")
        .result
        .expect_err("mismatch");
    assert_eq!(
        fault.to_string(),
        "PD0007: </item> closes <order> at byte 23, line 3 (/orders/order)"
    );
}

#[test]
fn a_failed_document_stays_failed_and_the_next_one_starts_afresh() {
    let mut tokenizer = Tokenizer::new(Limits::NONE);
    let mut recorder = Recorder::default();
    let fault = tokenizer
        .feed(b"<a></b>", &mut recorder)
        .expect_err("mismatch");
    assert_eq!(tokenizer.feed(b"<c/>", &mut recorder), Err(fault.clone()));
    assert_eq!(tokenizer.finish(&mut recorder), Err(fault));
    assert_eq!(
        read_pieces(&mut tokenizer, [b"<c/>".as_slice()]).result,
        Ok(())
    );
    assert_eq!(
        tokenizer.begin(Some("x-no")).map_err(|fault| fault.code),
        Err("PD0001")
    );
}

#[test]
fn encodings_are_decoded_and_offsets_count_utf8() {
    let declared = |label: &str| format!("<?xml version='1.0' encoding='{label}'?>");
    for (label, bytes, text) in [
        ("ISO-8859-1", b"\x85\xE9".as_slice(), "\u{85}é"),
        ("windows-1252", b"\x85\xE9", "…é"),
        ("KOI8-R", b"\xD0", "п"),
        ("Shift_JIS", b"\x8a\xbf", "漢"),
        ("UTF-8", "é".as_bytes(), "é"),
    ] {
        let head = declared(label);
        let document = [head.as_bytes(), b"<a>", bytes, b"</a>"].concat();
        let (from, to) = (head.len() + 3, head.len() + 3 + text.len());
        let Outcome { lines, result } = read(&document);
        assert_eq!(result, Ok(()));
        assert_eq!(lines[1], format!("text {text:?} {from}..{to}"), "{label}");
    }
    let wide: Vec<u8> = "\u{FEFF}<a>😀</a>"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    assert_eq!(read(&wide).lines[1], "text \"😀\" 6..10");
    let mut tokenizer = Tokenizer::new(Limits::NONE);
    tokenizer.begin(Some("utf-16")).expect("known");
    let mut recorder = Recorder::default();
    tokenizer
        .feed(&wide[2..], &mut recorder)
        .expect("well-formed");
    tokenizer.finish(&mut recorder).expect("well-formed");
    assert_eq!(recorder.lines[1], "text \"😀\" 3..7");
}

#[test]
fn declared_ids_and_entities_can_be_asked_for() {
    let mut tokenizer = Tokenizer::new(Limits::NONE);
    let text = b"<!DOCTYPE a [<!ATTLIST a k ID #IMPLIED><!ENTITY e 'x'>]><a/>";
    assert_eq!(
        read_pieces(&mut tokenizer, [text.as_slice()]).result,
        Ok(())
    );
    assert_eq!(tokenizer.id_attribute(b"a"), Some(b"k".as_slice()));
    assert_eq!(tokenizer.id_attribute(b"b"), None);
    assert_eq!(tokenizer.entities(), [(b"e".to_vec(), b"x".to_vec())]);
}

#[test]
fn endless_new_names_are_forgotten_and_open_ones_kept() {
    let mut text = String::from("<root xmlns:p='u'><p:open xmlns:p='v'>");
    for i in 0..150_000 {
        text += &format!("<p:n{i} a{i}='1'/>");
    }
    text += "</p:open><p:x/></root>";
    let Outcome { lines, result } = read(text.as_bytes());
    assert_eq!(result, Ok(()));
    assert!(
        lines[200_000].starts_with("start {v}p:n"),
        "{}",
        lines[200_000]
    );
    assert!(lines[lines.len() - 3].starts_with("start {u}p:x"));
}

#[test]
fn deep_documents_need_no_machine_stack() {
    let deep = 200_000;
    let limits = Limits {
        depth_max: deep as u64,
        ..Limits::NONE
    };
    let text = "<a xmlns='u'>".repeat(deep);
    let mut tokenizer = Tokenizer::new(limits);
    assert!(
        read_pieces(&mut tokenizer, [text.as_bytes()])
            .result
            .is_err()
    );
    let text = text + &"</a>".repeat(deep);
    assert_eq!(
        read_pieces(&mut tokenizer, [text.as_bytes()]).result,
        Ok(())
    );
}
