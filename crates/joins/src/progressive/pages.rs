//! Where bindings go that memory has no room for. The caller keeps them.

use super::graph::StreamId;
use std::fmt;

/// A page that the caller keeps, by the number that he gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PageId(pub u64);

/// Why a page could not be kept or given back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageFault(pub String);

impl fmt::Display for PageFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PageFault {}

/// Keeps pages, as a rule in a file.
pub trait Pages {
    /// Keeps a page.
    ///
    /// # Errors
    /// There is no room, or nothing can be written.
    fn write(&mut self, page: &[u8]) -> Result<PageId, PageFault>;

    /// Gives a page back, as it was.
    ///
    /// # Errors
    /// It is lost or damaged.
    fn read(&mut self, page: PageId) -> Result<Vec<u8>, PageFault>;

    /// A page is needed no more.
    fn remove(&mut self, page: PageId);
}

/// A page and what is on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Page {
    pub(super) id: PageId,
    pub(super) bytes: usize,
    /// The latest event time on it.
    pub(super) time_max: i64,
}

/// Pages of bindings of one stream that are being written.
pub(super) struct PageWriter<'a> {
    pages: &'a mut dyn Pages,
    page_bytes: usize,
    buffer: Vec<u8>,
    time_max: i64,
    written: Vec<Page>,
}

impl<'a> PageWriter<'a> {
    pub(super) fn new(pages: &'a mut dyn Pages, page_bytes: usize) -> Self {
        PageWriter {
            pages,
            page_bytes,
            buffer: Vec::new(),
            time_max: i64::MIN,
            written: Vec::new(),
        }
    }

    /// Adds a binding that was met until an arrival.
    pub(super) fn add(&mut self, binding: &super::Binding, until: u64) -> Result<(), PageFault> {
        let bytes = binding.page_bytes();
        if !self.buffer.is_empty() && self.buffer.len() + bytes > self.page_bytes {
            self.write_page()?;
        }
        if self.buffer.capacity() < self.buffer.len() + bytes {
            let room = self.page_bytes.max(bytes) - self.buffer.len();
            self.buffer.reserve_exact(room);
        }
        binding.write(until, &mut self.buffer);
        self.time_max = self.time_max.max(binding.time);
        Ok(())
    }

    /// Writes what is left, and gives the pages; after a fault none is kept.
    pub(super) fn finish(mut self, is_good: bool) -> Result<Vec<Page>, PageFault> {
        let done = if is_good && !self.buffer.is_empty() {
            self.write_page()
        } else {
            Ok(())
        };
        if !is_good || done.is_err() {
            for page in self.written.drain(..) {
                self.pages.remove(page.id);
            }
        }
        done.map(|()| self.written)
    }

    fn write_page(&mut self) -> Result<(), PageFault> {
        let id = self.pages.write(&self.buffer)?;
        self.written.push(Page {
            id,
            bytes: self.buffer.len(),
            time_max: self.time_max,
        });
        self.buffer.clear();
        self.time_max = i64::MIN;
        Ok(())
    }
}

/// The tuples on a page, each with one binding of every stream given.
pub(super) fn read_tuples(
    page: &[u8],
    streams: &[StreamId],
) -> Result<Vec<super::search::Members>, PageFault> {
    let mut rest = page;
    let mut tuples = Vec::new();
    while !rest.is_empty() {
        let members = streams
            .iter()
            .map(|&stream| super::Binding::read(stream, &mut rest));
        match members.collect::<Option<_>>() {
            Some(tuple) => tuples.push(tuple),
            None => return Err(PageFault("a page holds no bindings".to_owned())),
        }
    }
    Ok(tuples)
}
