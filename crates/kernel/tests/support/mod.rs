//! Writes down what the tokenizer reports.
#![allow(dead_code)]

use penstock_kernel::error::DocumentError;
use penstock_kernel::events::{Handler, Span, StartTag, Symbol};
use penstock_kernel::limits::Limits;
use penstock_kernel::tokenizer::Tokenizer;

/// Events as lines, text pieces joined.
#[derive(Default)]
pub struct Recorder {
    pub lines: Vec<String>,
    pub blocks: Vec<u8>,
    text: Option<(Vec<u8>, Span)>,
    depth: usize,
}

fn show(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("values are UTF-8")
}

impl Recorder {
    fn line(&mut self, what: String, span: Span) -> Result<(), DocumentError> {
        self.flush();
        assert!(
            span.start <= span.end && span.end <= self.blocks.len() as u64,
            "{what} {span:?}"
        );
        self.lines
            .push(format!("{what} {}..{}", span.start, span.end));
        Ok(())
    }

    pub fn flush(&mut self) {
        if let Some((text, span)) = self.text.take() {
            self.lines.push(format!(
                "text {:?} {}..{}",
                show(&text),
                span.start,
                span.end
            ));
        }
    }

    fn add(&mut self, value: &[u8], span: Span) -> Result<(), DocumentError> {
        assert!(self.depth > 0 && span.end <= self.blocks.len() as u64);
        let _ = show(value);
        let (text, whole) = self.text.get_or_insert((Vec::new(), span));
        assert!(
            span.start <= whole.end && span.end >= whole.end,
            "no gap, no way back"
        );
        text.extend_from_slice(value);
        whole.end = whole.end.max(span.end);
        Ok(())
    }
}

impl Handler for Recorder {
    fn block(&mut self, bytes: &[u8], start: u64) {
        assert_eq!(start, self.blocks.len() as u64, "blocks follow each other");
        self.blocks.extend_from_slice(bytes);
    }
    fn element_symbol(&mut self, _uri: &[u8], local: &[u8]) -> Symbol {
        Symbol(local.len() as u32)
    }
    fn attribute_symbol(&mut self, _uri: &[u8], local: &[u8]) -> Symbol {
        Symbol(local.len() as u32)
    }
    fn start(&mut self, tag: &StartTag<'_>) -> Result<(), DocumentError> {
        self.depth += 1;
        let mut line = format!(
            "start {{{}}}{} {}",
            show(tag.uri),
            show(tag.name),
            tag.symbol.0
        );
        for attribute in tag.attributes {
            let (uri, name) = (show(attribute.uri), show(attribute.name));
            let Span { start, end } = attribute.span;
            line += &format!(
                " {{{uri}}}{name}={:?} {start}..{end}",
                show(attribute.value)
            );
        }
        for (prefix, uri) in &tag.scope.declared {
            line += &format!(" xmlns:{}={}", show(prefix), show(uri));
        }
        self.line(line, tag.span)
    }
    fn end(&mut self, span: Span) -> Result<(), DocumentError> {
        self.depth -= 1;
        self.line("end".to_owned(), span)
    }
    fn text(&mut self, value: &[u8], span: Span) -> Result<(), DocumentError> {
        assert!(!value.is_empty());
        self.add(value, span)
    }
    fn empty_text(&mut self, span: Span) -> Result<(), DocumentError> {
        self.add(b"", span)
    }
    fn comment(&mut self, value: &[u8], span: Span) -> Result<(), DocumentError> {
        self.line(format!("comment {:?}", show(value)), span)
    }
    fn instruction(
        &mut self,
        target: &[u8],
        value: &[u8],
        span: Span,
    ) -> Result<(), DocumentError> {
        self.line(
            format!("instruction {} {:?}", show(target), show(value)),
            span,
        )
    }
}

/// Everything observable about reading a document.
#[derive(Debug, PartialEq)]
pub struct Outcome {
    pub lines: Vec<String>,
    pub result: Result<(), DocumentError>,
}

/// Reads a document given in pieces.
pub fn read_pieces<'a>(
    tokenizer: &mut Tokenizer,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Outcome {
    tokenizer.begin(None).expect("no encoding given");
    let mut recorder = Recorder::default();
    let mut result = Ok(());
    for piece in pieces {
        result = tokenizer.feed(piece, &mut recorder);
        if result.is_err() {
            break;
        }
    }
    let result = result.and_then(|()| tokenizer.finish(&mut recorder));
    recorder.flush();
    Outcome {
        lines: recorder.lines,
        result,
    }
}

/// Reads a document given whole.
pub fn read(bytes: &[u8]) -> Outcome {
    read_limited(bytes, Limits::NONE)
}

/// Reads a document under limits.
pub fn read_limited(bytes: &[u8], limits: Limits) -> Outcome {
    read_pieces(&mut Tokenizer::new(limits), [bytes])
}

/// The code and byte of the error in a document.
pub fn error(text: &str) -> Option<(&'static str, u64)> {
    read(text.as_bytes())
        .result
        .err()
        .map(|error| (error.code, error.byte))
}
