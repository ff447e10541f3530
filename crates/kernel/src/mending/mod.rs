//! Damaged documents become well-formed: what is broken turns into white space.
//!
//! A `Mender` reads a document ahead of all others. Where it is not well-formed, the record that is
//! open is lost, or the token at fault if none is; the document goes on at the next start tag of a
//! record, or at the tag of an element around records. What is lost keeps its place, so offsets
//! stay, but for end tags that are missing and put in. `docs/notes/damage.md` has the reasons.

mod elements;
mod held;
mod lexical;
mod search;

use crate::error::DocumentError;
use crate::limits::Limits;
use crate::tokenizer::{Tokenizer, codes};
use elements::{Elements, ROOT_END};
use held::{Held, line_ends};
use lexical::Lexer;
use search::{Place, Search, whole_ones};

/// So much is read at first behind damage, as there may be more.
const SLICE_BYTES_MIN: usize = 1 << 10;
const SLICE_BYTES_MAX: usize = 256 << 10;

/// Which elements may be records.
pub struct Target {
    /// Local names; none for all.
    pub names: Option<Vec<Box<[u8]>>>,
    /// How deep they stand, the root element being at 1, if all do so equally.
    pub depth: Option<usize>,
}

impl Target {
    #[inline]
    fn has(&self, local: &[u8]) -> bool {
        let names = self.names.as_ref();
        names.is_none_or(|names| names.iter().any(|name| **name == *local))
    }

    /// Whether a broken name may have been that of a record, and so of no element around one.
    fn begins_like(&self, local: &[u8]) -> bool {
        let mut names = self.names.iter().flatten();
        names.any(|name| name.starts_with(local))
    }

    #[inline]
    fn may_stand(&self, around: usize) -> bool {
        self.depth.is_none_or(|depth| depth == around + 1)
    }
}

/// Bytes that were lost, and why.
#[derive(Clone, Debug)]
pub struct Stretch {
    /// The first byte.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
    /// What was wrong.
    pub error: DocumentError,
    /// The bytes, if they are not too many.
    pub bytes: Option<Vec<u8>>,
}

/// What a mender gives between two calls.
#[derive(Default)]
pub struct Mended {
    /// The next bytes of a well-formed document.
    pub bytes: Vec<u8>,
    /// What was lost before their end.
    pub stretches: Vec<Stretch>,
    /// From which byte of the mended document on what follows is from which byte of the original.
    pub shifts: Vec<(u64, u64)>,
}

/// Bytes that are being lost.
#[derive(Default)]
struct Losing {
    start: u64,
    bytes: Vec<u8>,
    has_markup: bool,
    is_noted: bool,
}

/// What follows the end tag of the root element, which is held until it turns out to be the last.
struct Epilog {
    tokenizer: Tokenizer,
    /// Where the end tag starts.
    start: u64,
}

/// Reads one document in UTF-8 and hands on what is well-formed.
pub struct Mender {
    tokenizer: Tokenizer,
    elements: Elements,
    lexer: Lexer,
    held: Held,
    /// The tokenizer has read so far.
    fed: u64,
    slice_bytes: usize,
    search: Option<Search>,
    epilog: Option<Epilog>,
    losing: Losing,
    out: Mended,
    written: u64,
    limits: Limits,
    /// So many bytes of what is lost are kept.
    lost_bytes_max: usize,
    first: Option<DocumentError>,
}

impl Mender {
    /// A mender for one document.
    pub fn new(target: Target, limits: Limits, lost_bytes_max: usize) -> Mender {
        let mut tokenizer = Tokenizer::new(limits);
        let begun = tokenizer.begin(Some("utf-8"));
        debug_assert!(begun.is_ok(), "UTF-8 is known");
        Mender {
            tokenizer,
            elements: Elements {
                target,
                bytes_max: limits.buffer_bytes_max,
                open: Vec::new(),
                record: None,
                home: None,
                has_root: false,
                root_end: 0,
            },
            lexer: Lexer::default(),
            held: Held::default(),
            fed: 0,
            slice_bytes: SLICE_BYTES_MAX,
            search: None,
            epilog: None,
            losing: Losing::default(),
            out: Mended::default(),
            written: 0,
            limits,
            lost_bytes_max,
            first: None,
        }
    }

    /// Reads the next bytes. Where the pieces end changes nothing but when it is known.
    pub fn feed(&mut self, piece: &[u8]) -> Mended {
        self.held.extend(piece);
        while let Err(error) = self.read_on(false) {
            self.stop(error);
        }
        std::mem::take(&mut self.out)
    }

    /// Ends the document. It fails if it had no root element: then nothing could be mended.
    pub fn finish(&mut self) -> Result<Mended, DocumentError> {
        while let Err(error) = self.read_on(true).and_then(|()| self.end()) {
            self.stop(error);
        }
        let end = self.held.end();
        if let Some(search) = self.search.take() {
            self.blank(end);
            self.note(&search.error, false);
            self.close(&search.around, 0);
        } else {
            self.hand_on(end);
        }
        match self.first.take().filter(|_| !self.elements.has_root) {
            Some(error) => Err(error),
            None => Ok(std::mem::take(&mut self.out)),
        }
    }

    /// Ends the document, unless it is being searched.
    fn end(&mut self) -> Result<(), DocumentError> {
        match &mut self.epilog {
            _ if self.search.is_some() => Ok(()),
            Some(epilog) => epilog.tokenizer.finish(&mut self.elements),
            None => self.tokenizer.finish(&mut self.elements),
        }
    }

    /// Reads what there is, once it is known where to go on.
    fn read_on(&mut self, is_last: bool) -> Result<(), DocumentError> {
        if let Some(search) = &mut self.search {
            let end = self.held.end();
            let is_worth = is_last || end >= search.wait_until;
            let bytes = self.held.after(search.at);
            let target = &self.elements.target;
            let found = is_worth.then(|| search.run(bytes, &mut self.lexer, target, is_last));
            match (found.flatten(), search.at) {
                (Some(place), _) => self.go_on(place),
                (None, at) => {
                    self.blank(at);
                    return Ok(());
                }
            }
        }
        while self.fed < self.held.end() {
            let rest = self.held.after(self.fed);
            let slice = &rest[..rest.len().min(self.slice_bytes)];
            match &mut self.epilog {
                Some(epilog) => epilog.tokenizer.feed(slice, &mut self.elements)?,
                None => self.tokenizer.feed(slice, &mut self.elements)?,
            }
            self.fed += slice.len() as u64;
            self.slice_bytes = SLICE_BYTES_MAX.min(2 * self.slice_bytes);
        }
        if self.epilog.is_some() {
            return Ok(());
        }
        let unread = self.tokenizer.unread();
        let needed = self
            .elements
            .record
            .map_or(unread, |(_, start)| start.min(unread));
        if self.fed - needed > self.elements.bytes_max {
            return Err(self.elements.too_long(needed));
        }
        self.hand_on(needed);
        Ok(())
    }

    /// Hands on what is well-formed as it is.
    fn hand_on(&mut self, upto: u64) {
        let count = self.held.place(upto);
        let bytes = &self.held.bytes()[..count];
        self.out.bytes.extend_from_slice(bytes);
        self.written += count as u64;
        self.held.release(upto);
    }

    /// Hands on white space in place of what is lost.
    fn blank(&mut self, upto: u64) {
        let count = self.held.place(upto);
        let bytes = &self.held.bytes()[..count];
        let losing = &mut self.losing;
        let room = (self.lost_bytes_max + 1).saturating_sub(losing.bytes.len());
        losing.bytes.extend_from_slice(&bytes[..count.min(room)]);
        losing.has_markup |= !bytes.iter().all(u8::is_ascii_whitespace);
        let blank = bytes.iter().map(|byte| match byte {
            b'\n' => b'\n',
            _ => b' ',
        });
        self.out.bytes.extend(blank);
        self.written += count as u64;
        self.held.release(upto);
    }

    /// Reading has stopped: at the end of the root element, or at an error in it or behind it.
    fn stop(&mut self, error: DocumentError) {
        if let Some(epilog) = self.epilog.take() {
            self.hand_on(epilog.start);
            if !self.held.bytes().starts_with(b"</") {
                // An empty root element has ended for sure, and nothing can follow it.
                self.hand_on(self.elements.root_end);
                self.begin_losing(false);
                self.search = Some(Search::new(error, u64::MAX, self.held.base(), Vec::new()));
                return;
            }
            // The root element goes on, so that was not its end.
            self.begin_losing(false);
            self.blank(self.elements.root_end);
            self.note(&error, false);
            self.resume(self.elements.root_end, 1);
        } else if error.code == ROOT_END {
            let start = self.tokenizer.fault_start();
            self.hand_on(start);
            self.fed = self.elements.root_end;
            let tag = &self.held.bytes()[..self.held.place(self.fed)];
            let line_ends = self.held.line_ends() + line_ends(tag);
            let mut tokenizer = Tokenizer::new(self.limits);
            let begun = tokenizer.begin_epilog(self.fed, line_ends);
            debug_assert!(begun.is_ok(), "UTF-8 is known");
            self.epilog = Some(Epilog { tokenizer, start });
        } else {
            self.lose(error);
        }
    }

    /// Starts to search behind an error.
    fn lose(&mut self, mut error: DocumentError) {
        if error.code == codes::BUFFER_BYTES {
            let count = self.held.place(error.byte);
            let before = &self.held.bytes()[..count];
            error.line = 1 + self.held.line_ends() + line_ends(before);
            error.path = self.path();
        }
        self.first.get_or_insert_with(|| error.clone());
        let fault = self.fault_of(&error);
        let record = self.elements.record.filter(|(_, start)| *start < fault);
        let depth = match record {
            Some((around, _)) => around,
            None => self.elements.open.partition_point(|start| *start < fault),
        };
        let from = record.map_or(fault, |(_, start)| start);
        let around = (0..depth).map(|depth| self.tokenizer.open_name(depth).into());
        let mut search = Search::new(error, fault, from, around.collect());
        search.is_inside = record.is_some();
        let home = self.elements.home_at(depth);
        search.is_home = home.is_some() && home == self.elements.home;
        search.is_end = self.held.after(fault).starts_with(b"</");
        self.hand_on(from);
        self.begin_losing(false);
        if search.is_inside {
            // What looks like elements in the record is known before any of it is let go.
            let count = self.held.place(fault);
            let bytes = &self.held.bytes()[..count];
            search.run(bytes, &mut Lexer::default(), &self.elements.target, true);
            self.save_whole_ones(&search, fault);
        }
        self.search = Some(search);
    }

    /// The open elements down to the record.
    fn path(&self) -> String {
        let depth = self
            .elements
            .record
            .map_or(self.elements.open.len(), |(around, _)| around + 1);
        let names =
            (0..depth).map(|depth| String::from_utf8_lossy(self.tokenizer.open_name(depth)));
        names
            .flat_map(|name| ["/".to_owned(), name.into_owned()])
            .collect()
    }

    /// The token at fault, or the byte in a text; the same wherever the input was cut.
    fn fault_of(&self, error: &DocumentError) -> u64 {
        let start = self.tokenizer.fault_start();
        let is_markup = matches!(self.held.after(start).first(), Some(b'<' | b'&'));
        if is_markup && error.code != codes::BUFFER_BYTES {
            return start;
        }
        error.byte.clamp(self.held.base(), self.held.end())
    }

    /// Hands on the elements in a record that breaks off which are records by themselves.
    fn save_whole_ones(&mut self, search: &Search, fault: u64) {
        let (base, count) = (self.held.base(), self.held.place(fault));
        let depth = search.around.len();
        for (start, end) in whole_ones(&self.held.bytes()[..count], &self.elements.target) {
            let (start, end) = (base + start as u64, base + end as u64);
            self.blank(start);
            self.resume(start, depth);
            let length = (end - start) as usize;
            let bytes = &self.held.bytes()[..length];
            let read = self.tokenizer.feed(bytes, &mut self.elements);
            let is_whole = read.is_ok()
                && self.elements.open.len() == depth
                && self.tokenizer.position() == end;
            if is_whole {
                self.note(&search.error, true);
                self.hand_on(end);
                self.begin_losing(self.losing.is_noted);
            }
        }
    }

    /// Lets the tokenizer go on at the first byte that is held.
    fn resume(&mut self, offset: u64, depth: usize) {
        debug_assert_eq!(offset, self.held.base());
        self.elements.truncate(depth);
        let line_ends = self.held.line_ends();
        self.tokenizer.recover(depth, offset, line_ends);
        self.fed = offset;
    }

    /// The document goes on.
    fn go_on(&mut self, (offset, depth): Place) {
        let Some(search) = self.search.take() else {
            return;
        };
        self.blank(offset);
        self.note(&search.error, false);
        self.close(&search.around, depth);
        self.resume(offset, depth);
        self.slice_bytes = SLICE_BYTES_MIN;
    }

    /// Puts in the end tags of elements that are open no more.
    fn close(&mut self, around: &[Box<[u8]>], depth: usize) {
        if around.len() <= depth {
            return;
        }
        for name in around[depth..].iter().rev() {
            self.out.bytes.extend_from_slice(b"</");
            self.out.bytes.extend_from_slice(name);
            self.out.bytes.push(b'>');
            self.written += name.len() as u64 + 3;
        }
        self.out.shifts.push((self.written, self.held.base()));
    }

    fn begin_losing(&mut self, is_noted: bool) {
        self.losing = Losing {
            start: self.held.base(),
            is_noted,
            ..Losing::default()
        };
    }

    /// Says what was lost. White space between elements that were saved is not.
    fn note(&mut self, error: &DocumentError, is_between: bool) {
        let losing = &mut self.losing;
        if !losing.has_markup && (is_between || losing.is_noted) {
            return;
        }
        losing.is_noted = true;
        let bytes = std::mem::take(&mut losing.bytes);
        self.out.stretches.push(Stretch {
            start: losing.start,
            end: self.held.base(),
            error: error.clone(),
            bytes: Some(bytes).filter(|bytes| bytes.len() <= self.lost_bytes_max),
        });
    }
}
