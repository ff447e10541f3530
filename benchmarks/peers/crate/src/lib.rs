//! Published algorithms for many path queries, as peers of the benchmark.
//!
//! Documents are read by the kernel's tokenizer, so that only the algorithms differ. The functions
//! here are called from Python through its foreign function interface.

mod bitmap;
mod labels;
mod nfa;
mod query;
mod reader;
mod segments;

use bitmap::{Compressed, Plain};
use nfa::Nfa;
use query::Queries;
use reader::{Matcher, Reader};
use segments::Segments;
use std::cell::RefCell;

thread_local! {
    static FAILURE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// A set of queries, ready for documents.
pub struct Peer {
    reader: Reader,
    matcher: Box<dyn Matcher>,
    found: Vec<u32>,
}

/// Compiles queries, one on each line, and returns what reads documents, or null: `peer_failure`
/// then says why. `kind` is 0 for YFilter, 1 for XPaSS, 2 for XPaSS with compressed bitmaps.
///
/// # Safety
/// `texts` points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn peer_open(
    kind: u32,
    is_query: bool,
    texts: *const u8,
    length: usize,
) -> *mut Peer {
    let texts = unsafe { std::slice::from_raw_parts(texts, length) };
    match open(kind, is_query, texts) {
        Ok(peer) => Box::into_raw(Box::new(peer)),
        Err(reason) => fail(reason),
    }
}

/// Reads a document and returns what matches, `count` numbers, or null if it is malformed: the
/// queries' numbers or, in query mode, pairs of an element's and a query's number. They stay until
/// the next call.
///
/// # Safety
/// `peer` comes from `peer_open` and is not closed; `data` points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn peer_read(
    peer: *mut Peer,
    data: *const u8,
    length: usize,
    count: *mut usize,
) -> *const u32 {
    let (peer, data) = unsafe { (&mut *peer, std::slice::from_raw_parts(data, length)) };
    peer.found.clear();
    match peer
        .reader
        .read(data, peer.matcher.as_mut(), &mut peer.found)
    {
        Ok(()) => {
            unsafe { *count = peer.found.len() };
            peer.found.as_ptr()
        }
        Err(reason) => fail(reason),
    }
}

/// Forgets what was learnt from documents.
///
/// # Safety
/// `peer` comes from `peer_open` and is not closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn peer_forget(peer: *mut Peer) {
    unsafe { (*peer).matcher.forget() }
}

/// Frees a peer.
///
/// # Safety
/// `peer` comes from `peer_open` and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn peer_close(peer: *mut Peer) {
    drop(unsafe { Box::from_raw(peer) });
}

/// Copies the reason of the last failure of this thread, at most `capacity` bytes, and returns
/// their number.
///
/// # Safety
/// `buffer` has room for `capacity` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn peer_failure(buffer: *mut u8, capacity: usize) -> usize {
    FAILURE.with_borrow(|reason| {
        let length = reason.len().min(capacity);
        unsafe { std::ptr::copy_nonoverlapping(reason.as_ptr(), buffer, length) };
        length
    })
}

fn fail<T>(reason: String) -> *mut T {
    FAILURE.set(reason);
    std::ptr::null_mut()
}

fn open(kind: u32, is_query: bool, texts: &[u8]) -> Result<Peer, String> {
    let texts = std::str::from_utf8(texts).map_err(|error| error.to_string())?;
    let queries = Queries::parse(texts)?;
    let matcher: Box<dyn Matcher> = match kind {
        0 => Box::new(Nfa::build(&queries, is_query)?),
        1 => Box::new(Segments::<Plain>::build(&queries, is_query)),
        2 => Box::new(Segments::<Compressed>::build(&queries, is_query)),
        _ => return Err(format!("there is no peer of kind {kind}")),
    };
    Ok(Peer {
        reader: Reader::new(queries.names),
        matcher,
        found: Vec::new(),
    })
}
