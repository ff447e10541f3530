//! Reads a file through the tokenizer and says what became of it.
//!
//! `tokenize FILE [--piece BYTES] [--repeat N] [--verdict] [--many]`; `--many` reads a list of
//! files from standard input, one verdict a line.

use penstock_kernel::error::{DocumentError, ErrorKind};
use penstock_kernel::events::{Handler, Span, StartTag, Symbol};
use penstock_kernel::limits::Limits;
use penstock_kernel::tokenizer::Tokenizer;
use std::io::BufRead;
use std::time::Instant;

#[derive(Default)]
struct Counter {
    elements: u64,
    attributes: u64,
    text_bytes: u64,
    others: u64,
}

impl Handler for Counter {
    fn element_symbol(&mut self, _uri: &[u8], _local: &[u8]) -> Symbol {
        Symbol(0)
    }
    fn attribute_symbol(&mut self, _uri: &[u8], _local: &[u8]) -> Symbol {
        Symbol(0)
    }
    fn start(&mut self, tag: &StartTag<'_>) -> Result<(), DocumentError> {
        self.elements += 1;
        self.attributes += tag.attributes.len() as u64;
        Ok(())
    }
    fn end(&mut self, _span: Span) -> Result<(), DocumentError> {
        Ok(())
    }
    fn text(&mut self, value: &[u8], _span: Span) -> Result<(), DocumentError> {
        self.text_bytes += value.len() as u64;
        Ok(())
    }
    fn comment(&mut self, _value: &[u8], _span: Span) -> Result<(), DocumentError> {
        self.others += 1;
        Ok(())
    }
    fn instruction(&mut self, _: &[u8], _: &[u8], _: Span) -> Result<(), DocumentError> {
        self.others += 1;
        Ok(())
    }
}

fn read(
    tokenizer: &mut Tokenizer,
    bytes: &[u8],
    piece: usize,
    counter: &mut Counter,
) -> Result<(), DocumentError> {
    tokenizer.begin(None)?;
    for part in bytes.chunks(piece) {
        tokenizer.feed(part, counter)?;
    }
    tokenizer.finish(counter)
}

fn verdict(result: &Result<(), DocumentError>) -> String {
    match result {
        Ok(()) => "accept".to_owned(),
        Err(error) if error.kind == ErrorKind::Malformed => format!("reject {error}"),
        Err(error) => format!("limit {error}"),
    }
}

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (mut file, mut piece, mut repeat, mut is_quiet) = (None, usize::MAX, 1, false);
    let mut is_many = false;
    while let Some(argument) = arguments.next() {
        let mut number = || {
            arguments
                .next()
                .and_then(|text| text.parse().ok())
                .unwrap_or(1)
        };
        match argument.as_str() {
            "--piece" => piece = number(),
            "--repeat" => repeat = number(),
            "--verdict" => is_quiet = true,
            "--many" => is_many = true,
            _ => file = Some(argument),
        }
    }
    let mut tokenizer = Tokenizer::new(Limits::NONE);
    if is_many {
        for line in std::io::stdin().lock().lines() {
            let bytes = std::fs::read(line?)?;
            let result = read(&mut tokenizer, &bytes, piece, &mut Counter::default());
            println!("{}", verdict(&result).replace('\n', " "));
        }
        return Ok(());
    }
    let bytes = std::fs::read(file.unwrap_or_default())?;
    let mut best = f64::INFINITY;
    let mut counter = Counter::default();
    let mut result = Ok(());
    for _ in 0..repeat {
        counter = Counter::default();
        let start = Instant::now();
        result = read(&mut tokenizer, &bytes, piece, &mut counter);
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("{}", verdict(&result));
    if !is_quiet {
        let Counter {
            elements,
            attributes,
            text_bytes,
            others,
        } = counter;
        println!(
            "{elements} elements, {attributes} attributes, {text_bytes} bytes of text, {others} others"
        );
        println!("{:.1} MB/s", bytes.len() as f64 / best / 1e6);
    }
    Ok(())
}
