//! Sets that are kept: for each node once, and for those who ask later.

use super::Circuit;
use super::cells::Wire;
use super::frames::{ArmTarget, Spot, Target};
use super::ids::{InfoId, SinkId};
use super::sinks::{Entry, SinkKind, Window};

impl Circuit {
    pub(super) fn merge(
        &mut self,
        id: SinkId,
        target: Target,
        window: Window,
        spot: Spot,
        when: Wire,
    ) {
        let serial = self.sinks[id].serial;
        let info = self.info_of(spot);
        self.cells.account.spend(1);
        if let Some(&or) = self.infos[info].joined.get(serial) {
            return self.or_add(or, &when);
        }
        let or = self.open_or(1);
        self.or_add(or, &when);
        self.infos[info].joined.insert(serial, or);
        let depth = self.infos[info].depth;
        let closer = match (window, depth) {
            (Window::Node, Some(depth)) => Some(depth as usize),
            (Window::Parent, Some(depth)) => (depth as usize).checked_sub(1),
            // A closed sibling: its parent is the parent of the node that looks back.
            (Window::Parent, None) => self.frames.len().checked_sub(2),
            _ => None,
        };
        match closer {
            _ if window == Window::Event => self.ways.push(or),
            Some(closer) => {
                self.extra_of(closer).on_close.push(or);
            }
            None => {
                self.infos[info].references += 1;
                self.sinks[id].entries.push(Entry {
                    order: u64::from(info.0),
                    when: Wire::Cell(or),
                    value: Wire::TRUE,
                });
            }
        }
        self.add(target, spot, Wire::Cell(or));
    }

    pub(super) fn store(&mut self, id: SinkId, spot: Spot, when: Wire) {
        let SinkKind::Store {
            links, is_dropped, ..
        } = &self.sinks[id].kind
        else {
            return;
        };
        let (links, is_dropped) = (links.clone(), *is_dropped);
        if !is_dropped {
            let info = self.info_of(spot);
            self.infos[info].references += 1;
            self.cells.pin(&when);
            if let SinkKind::Store { entries, .. } = &mut self.sinks[id].kind {
                entries.push((info, when.clone()));
            }
        }
        self.count_pairs(links.len());
        for (target, link) in links {
            let wire = self.and(link, when.clone());
            self.add(target, spot, wire);
        }
    }

    /// A target asks for what a store has and will have.
    pub(super) fn link(&mut self, id: SinkId, target: Target, when: Wire) {
        let SinkKind::Store { entries, .. } = &self.sinks[id].kind else {
            return;
        };
        let entries = entries.clone();
        self.count_pairs(entries.len());
        for (info, own) in entries {
            let own = self.cells.resolve(&own);
            let wire = self.and(when.clone(), own);
            let spot = self.spot_of(info);
            self.add(target, spot, wire);
        }
        if self.sinks[id].open > 0 {
            self.source_open(ArmTarget::Plain(target));
            self.cells.pin(&when);
            if let SinkKind::Store { links, .. } = &mut self.sinks[id].kind {
                links.push((target, when));
            }
        }
    }

    /// The spot of a remembered node, which may be the one that is opening.
    pub(super) fn spot_of(&self, info: InfoId) -> Spot {
        if self.opening_info() == info && self.is_opening {
            Spot::Opening
        } else {
            Spot::Late(info)
        }
    }

    /// A store gets no further nodes.
    pub(super) fn close_store(&mut self, id: SinkId) {
        let SinkKind::Store {
            links, is_dropped, ..
        } = &mut self.sinks[id].kind
        else {
            return;
        };
        let (links, is_dropped) = (std::mem::take(links), *is_dropped);
        if is_dropped {
            self.sinks.free(id);
        }
        for (target, when) in links {
            self.cells.unpin(&when);
            self.source_close(ArmTarget::Plain(target));
        }
    }

    /// Drops what a store kept.
    pub(super) fn drop_store(&mut self, id: SinkId) {
        let sink = &mut self.sinks[id];
        let is_closed = sink.open == 0;
        let mut kept = Vec::new();
        if let SinkKind::Store {
            entries,
            is_dropped,
            ..
        } = &mut sink.kind
        {
            *is_dropped = true;
            kept = std::mem::take(entries);
        }
        for (info, when) in kept {
            self.cells.unpin(&when);
            self.release(info);
        }
        // While its arms are up its number is taken.
        if is_closed {
            self.sinks.free(id);
        }
    }
}
