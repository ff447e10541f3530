//! Bytes become events: decoded, checked, split into tokens, names resolved.
//!
//! Input comes in pieces of any size. A token is read where it lies in the caller's piece; only
//! one that is cut off by the end of a piece is copied and completed. See `docs/notes/tokenizer.md`.

pub mod codes;

mod attributes;
mod binding;
mod characters;
mod content;
mod doctype;
mod encodings;
mod entities;
mod extent;
mod faults;
mod input;
mod markup;
mod names;
mod namespaces;
mod pieces;
mod references;
mod scanner;
mod search;
mod tags;
mod validity;

use crate::error::DocumentError;
use crate::events::Handler;
use crate::ledger::Account;
use crate::limits::Limits;
use encodings::{Family, label_encoding};
use entities::Declared;
pub(crate) use extent::Extent;
use faults::{malformed, quote};
use input::{Decoder, Detected, Status, detect, head_missing};
use pieces::Pieces;
use scanner::Phase;

/// Reads documents, one after the other, and tells a `Handler` what is in them.
///
/// Cutting the input differently changes neither the events nor the error, only into how many
/// pieces a text is cut. After an error the rest of the document is refused with the same error;
/// `begin` starts afresh.
pub struct Tokenizer {
    pieces: Pieces,
    external: Option<Family>,
    decoder: Option<Decoder>,
    /// The first bytes, while they do not tell the encoding.
    head: Vec<u8>,
    decoded: Vec<u8>,
    failure: Option<DocumentError>,
    is_finished: bool,
}

impl Tokenizer {
    /// A tokenizer ready for its first document.
    pub fn new(limits: Limits) -> Self {
        Tokenizer {
            pieces: Pieces::new(limits),
            external: None,
            decoder: None,
            head: Vec::new(),
            decoded: Vec::new(),
            failure: None,
            is_finished: false,
        }
    }

    /// Counts the work that a document asks for without having bytes for it.
    pub fn with_account(mut self, account: Account) -> Self {
        self.pieces.core.account = Some(account);
        self
    }

    /// Starts a document. Buffers, names and symbols are kept from the one before.
    ///
    /// An `encoding` given here wins over whatever the document says; without one, a byte order
    /// mark, the XML declaration and UTF-8 decide, in this order. Fails if the label is unknown.
    pub fn begin(&mut self, encoding: Option<&str>) -> Result<(), DocumentError> {
        self.pieces.reset();
        self.decoder = None;
        self.head.clear();
        self.failure = None;
        self.is_finished = false;
        self.external = match encoding {
            None => None,
            Some(label) => Some(label_encoding(label.as_bytes()).ok_or_else(|| {
                let reason = format!("encoding `{}` is not known", quote(label.as_bytes()));
                let mut fault = malformed(codes::UNKNOWN_ENCODING, 0, reason);
                (fault.line, fault.path) = (1, "/".to_owned());
                self.failure = Some(fault.clone());
                fault
            })?),
        };
        Ok(())
    }

    /// Reads the next bytes of the document. After `finish`, only `begin` may follow.
    pub fn feed<H: Handler>(&mut self, chunk: &[u8], handler: &mut H) -> Result<(), DocumentError> {
        self.run(|this, handler| this.accept(chunk, false, handler), handler)
    }

    /// Ends the document.
    pub fn finish<H: Handler>(&mut self, handler: &mut H) -> Result<(), DocumentError> {
        self.run(
            |this, handler| {
                this.accept(b"", true, handler)?;
                this.is_finished = true;
                this.pieces.finish(handler)
            },
            handler,
        )
    }

    /// After an error, goes on at another place of the document, before which there are so many line
    /// ends: `depth` of the open elements stay open. The handler has to know by itself; what is
    /// decoded has to be UTF-8.
    pub fn recover(&mut self, depth: usize, offset: u64, line_ends: u64) {
        self.failure = None;
        self.is_finished = false;
        self.pieces.recover(depth, offset, line_ends);
    }

    /// Starts at a place behind the root element of a document in UTF-8, likewise.
    pub fn begin_epilog(&mut self, offset: u64, line_ends: u64) -> Result<(), DocumentError> {
        self.begin(Some("utf-8"))?;
        self.pieces.recover(0, offset, line_ends);
        self.pieces.core.phase = Phase::Epilog;
        Ok(())
    }

    /// After an error, where the token begins that is at fault; it may be in the middle of a text.
    pub fn fault_start(&self) -> u64 {
        let fault = self.pieces.core.fault_start;
        fault.unwrap_or_else(|| self.unread())
    }

    /// Where the first token begins that was not read to its end; a CDATA section is one.
    pub fn unread(&self) -> u64 {
        let core = &self.pieces.core;
        match core.cdata {
            Some(_) => core.section_start,
            None => self.pieces.position(),
        }
    }

    /// The name of an open element, as written.
    pub fn open_name(&self, depth: usize) -> &[u8] {
        let core = &self.pieces.core;
        &core.names.get(core.open[depth].name).bytes
    }

    /// Forgets the symbols of names. To be called after a handler's symbols changed, or before
    /// another handler takes over.
    pub fn forget_symbols(&mut self) {
        self.pieces.core.names.forget_symbols();
    }

    /// Ends the document with an error that came from outside, at the place that is reached.
    pub fn fail(&mut self, fault: DocumentError) -> DocumentError {
        let fault = self.pieces.locate_here(fault);
        self.failure = Some(fault.clone());
        fault
    }

    /// Ends the document where it is; `begin` has to follow.
    pub fn close(&mut self) {
        self.is_finished = true;
    }

    /// The offset, in the decoded input, of the first byte that no event has covered yet.
    pub fn position(&self) -> u64 {
        self.pieces.position()
    }

    /// The attribute that the document declares to be of type ID for an element of this name.
    pub fn id_attribute(&self, element: &[u8]) -> Option<&[u8]> {
        self.pieces.core.doctype.attributes.get(element)?.id()
    }

    /// Whether the document declared internal general entities so far.
    pub fn has_entities(&self) -> bool {
        let mut declared = self.pieces.core.doctype.entities.values();
        declared.any(|declared| matches!(declared, Declared::Internal(_)))
    }

    /// The internal general entities that the document declared so far, by name: name and
    /// replacement text.
    pub fn entities(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        let declared = self.pieces.core.doctype.entities.values();
        let internal = declared.filter_map(|declared| match declared {
            Declared::Internal(entity) => Some((entity.name.to_vec(), entity.text.to_vec())),
            Declared::External | Declared::Unparsed => None,
        });
        let mut entities: Vec<_> = internal.collect();
        entities.sort_unstable();
        entities
    }

    fn run<H: Handler>(
        &mut self,
        work: impl FnOnce(&mut Self, &mut H) -> Result<(), DocumentError>,
        handler: &mut H,
    ) -> Result<(), DocumentError> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        assert!(
            !self.is_finished,
            "a document has to begin before it is read"
        );
        work(self, handler).inspect_err(|fault| self.failure = Some(fault.clone()))
    }

    /// Finds out the encoding if it is not known, then reads.
    fn accept<H: Handler>(
        &mut self,
        chunk: &[u8],
        is_last: bool,
        handler: &mut H,
    ) -> Result<(), DocumentError> {
        if self.decoder.is_some() {
            return self.decode(chunk, is_last, handler);
        }
        if self.head.is_empty()
            && let Some(detected) = detect(chunk, self.external, is_last)
        {
            self.settle(detected);
            return self.decode(chunk, is_last, handler);
        }
        let (start, rest) = chunk.split_at(chunk.len().min(head_missing(&self.head)));
        self.head.extend_from_slice(start);
        match detect(&self.head, self.external, is_last) {
            None => Ok(()),
            Some(detected) => {
                self.settle(detected);
                let head = std::mem::take(&mut self.head);
                self.decode(&head, is_last && rest.is_empty(), handler)?;
                if rest.is_empty() {
                    Ok(())
                } else {
                    self.decode(rest, is_last, handler)
                }
            }
        }
    }

    fn settle(&mut self, detected: Detected) {
        self.decoder = Some(detected.decoder);
        self.pieces.core.promise = detected.promise;
    }

    fn decode<H: Handler>(
        &mut self,
        chunk: &[u8],
        is_last: bool,
        handler: &mut H,
    ) -> Result<(), DocumentError> {
        let Some(decoder) = &mut self.decoder else {
            return Ok(());
        };
        let mut rest = chunk;
        match decoder {
            Decoder::Utf8 => return self.pieces.read(chunk, handler),
            Decoder::Ascii => {
                let good = chunk
                    .iter()
                    .position(|byte| *byte > 0x7F)
                    .unwrap_or(chunk.len());
                self.pieces.read(&chunk[..good], handler)?;
                return match chunk.get(good) {
                    None => Ok(()),
                    Some(byte) => {
                        let reason = format!("byte {byte:#04X} is not US-ASCII");
                        Err(self.pieces.bad_bytes(&reason))
                    }
                };
            }
            _ => {}
        }
        loop {
            self.decoded.clear();
            let (read, status) = decoder.decode(rest, &mut self.decoded, is_last);
            self.pieces.read(&self.decoded, handler)?;
            rest = &rest[read..];
            match status {
                Status::More => {}
                Status::Done => return Ok(()),
                Status::Bad => {
                    let reason = "the next bytes mean nothing in the document's encoding";
                    return Err(self.pieces.bad_bytes(reason));
                }
            }
        }
    }
}
