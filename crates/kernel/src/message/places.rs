//! What a program needs of documents: a tree of steps from the document node.

use crate::ids::ids;
use crate::plan::{ProgramError, Read, Reader};
use crate::vocabulary::{Axis, NodeKind};

ids! {
    /// A place of a projection.
    PlaceId,
    /// A part of a program that gathers items while a document is read.
    GatherId,
}

/// What is needed of the nodes at a place, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks(u8);

impl Marks {
    const NODE: u8 = 1;
    const VALUE: u8 = 2;
    const BYTES: u8 = 4;
    const TREE: u8 = 8;

    /// The marks of a program's code.
    fn of_code(code: u32) -> Read<Marks> {
        match u8::try_from(code) {
            Ok(bits @ 0..=15) => Ok(Marks(bits)),
            _ => Err(ProgramError("an unknown need")),
        }
    }

    /// Whether anything is needed.
    pub fn is_some(self) -> bool {
        self.0 != 0
    }

    /// Whether the node is an element that has to be there.
    pub fn node() -> Marks {
        Marks(Marks::NODE)
    }

    /// Whether the string value is needed.
    pub fn has_value(self) -> bool {
        self.0 & (Marks::VALUE | Marks::TREE) != 0
    }

    /// Whether the source is needed as bytes.
    pub fn has_bytes(self) -> bool {
        self.0 & Marks::BYTES != 0
    }

    /// Whether everything inside the node is needed.
    pub fn has_tree(self) -> bool {
        self.0 & Marks::TREE != 0
    }

    /// What either needs.
    pub fn or(self, other: Marks) -> Marks {
        Marks(self.0 | other.0)
    }

    /// The same, where the source cannot be copied as it stands.
    pub fn without_bytes(self) -> Marks {
        match self.has_bytes() {
            true => Marks(self.0 & !Marks::BYTES | Marks::TREE),
            false => self,
        }
    }
}

/// How long a node is needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stay {
    /// As long as its region.
    #[default]
    Region,
    /// Until the element ends that is so many levels above.
    Above(u32),
    /// Until the document ends.
    Document,
}

/// A node test.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Test {
    pub kind: NodeKind,
    pub local: Option<Box<[u8]>>,
    pub uris: Option<Box<[Box<[u8]>]>>,
}

impl Test {
    /// Reads a test.
    pub fn read(reader: &mut Reader<'_>) -> Read<Test> {
        let kind = NodeKind::from_code(reader.word()?);
        let kind = kind.ok_or(ProgramError("an unknown kind of node"))?;
        let local = match reader.below(2)? {
            0 => None,
            _ => Some(reader.bytes()?.into()),
        };
        let uris = match reader.below(2)? {
            0 => None,
            _ => Some(reader.many(|reader, _| Ok(reader.bytes()?.into()))?.into()),
        };
        Ok(Test { kind, local, uris })
    }
}

/// A place: reached by an axis from the place above, and tested.
#[derive(Clone, Debug)]
pub struct Place {
    pub axis: Axis,
    pub test: Test,
    /// Needed as long as the region lasts.
    pub marks: Marks,
    /// Needed until the document ends.
    pub kept: Marks,
    /// Needed until the element ends that is so many levels above.
    pub held: Marks,
    pub levels: u32,
    /// Whose regions its nodes are.
    pub gathers: Box<[GatherId]>,
    /// The places below, in the same table.
    pub children: Vec<PlaceId>,
}

impl Place {
    /// How long its nodes are needed.
    pub fn stay(&self) -> Stay {
        match (self.kept.is_some(), self.held.is_some()) {
            (true, _) => Stay::Document,
            (_, true) => Stay::Above(self.levels),
            _ => Stay::Region,
        }
    }
}

/// Reads a tree of places into a table; the first entry is the document node.
/// Those of a table may be needed as long as an element above them lasts.
pub fn read_places(reader: &mut Reader<'_>, gathers: usize, is_table: bool) -> Read<Vec<Place>> {
    let mut places = Vec::new();
    // Places wait for so many children; the trees of programs may be deep.
    let mut open: Vec<(PlaceId, usize)> = Vec::new();
    loop {
        let id = PlaceId(places.len() as u32);
        let (place, children) = read_place(reader, gathers, is_table)?;
        if places.is_empty() && place.test.kind != NodeKind::Document {
            return Err(ProgramError("a projection does not start at a document"));
        }
        places.push(place);
        if let Some((parent, waiting)) = open.last_mut() {
            *waiting -= 1;
            places[parent.index()].children.push(id);
        }
        open.push((id, children));
        while open.last().is_some_and(|&(_, waiting)| waiting == 0) {
            open.pop();
        }
        if open.is_empty() {
            return Ok(places);
        }
    }
}

fn read_place(reader: &mut Reader<'_>, gathers: usize, is_table: bool) -> Read<(Place, usize)> {
    let axis = Axis::from_code(reader.word()?).filter(|axis| axis.is_forward());
    let axis = axis.ok_or(ProgramError("a projection looks back"))?;
    let test = Test::read(reader)?;
    let (marks, kept) = (
        Marks::of_code(reader.word()?)?,
        Marks::of_code(reader.word()?)?,
    );
    let (held, levels) = match is_table {
        true => (Marks::of_code(reader.word()?)?, reader.word()?),
        false => (Marks::default(), 0),
    };
    let place = Place {
        axis,
        test,
        marks,
        kept,
        held,
        levels,
        gathers: reader
            .many(|reader, _| reader.below(gathers).map(GatherId))?
            .into(),
        children: Vec::new(),
    };
    Ok((place, reader.count()?))
}
