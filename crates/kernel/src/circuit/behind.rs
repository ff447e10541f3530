//! Closed nodes that later ones look back at: a truth about all of them, or the nodes.

use super::Circuit;
use super::cells::Wire;
use super::chains::is_beside;
use super::frames::{Behind, Spot};
use super::ids::{InfoId, RouteId};
use super::trails::Trail;
use crate::plan::Axis;
use crate::small::SmallMap;

impl Circuit {
    /// Remembers a closed node for those that will look back at it.
    pub(super) fn leave_behind(&mut self, depth: usize) {
        let frame = self.frames[depth];
        let symbol = match &self.symbols[frame.symbol] {
            Some(symbol) if !symbol.behind.is_empty() => symbol.clone(),
            _ => return,
        };
        if depth == 0 || is_beside(frame.kind) {
            return;
        }
        let routes = self.table.clone();
        for &id in symbol.behind.iter() {
            let axis = routes[id].axis;
            let is_listed = routes[id].is_listed();
            let mut behind = std::mem::take(self.behind_of(axis, depth));
            let none = || {
                if routes[id].pick.is_some() {
                    Behind::Trail(Trail::default())
                } else if is_listed {
                    Behind::Nodes(Vec::new())
                } else {
                    Behind::Truth(Wire::FALSE)
                }
            };
            match behind.get_or_insert_with(id, none) {
                Behind::Truth(sum) => self.add_behind(id, frame.info, sum),
                Behind::Nodes(nodes) if routes[id].end.is_some() => {
                    self.list_farthest(id, frame.info, nodes);
                }
                Behind::Nodes(nodes) => self.list_behind(frame.info, nodes),
                Behind::Trail(trail) => {
                    if let Some(pick) = &routes[id].pick {
                        self.lengthen_trail(trail, pick, frame.info);
                    }
                }
            }
            *self.behind_of(axis, depth) = behind;
        }
    }

    /// Where closed nodes of a depth are remembered for an axis that looks back.
    pub(super) fn behind_of(&mut self, axis: Axis, depth: usize) -> &mut SmallMap<RouteId, Behind> {
        if axis == Axis::Preceding {
            &mut self.behind
        } else {
            &mut self.extras[depth - 1].behind
        }
    }

    /// One more node that may do; a sure one is enough.
    fn add_behind(&mut self, id: RouteId, info: InfoId, sum: &mut Wire) {
        let so_far = self.cells.resolve(sum);
        if so_far.is_true() {
            return;
        }
        let own = self.truth_of_member(id, Spot::Late(info));
        let wire = self.any(&[so_far, own]);
        self.cells.pin(&wire);
        self.cells.unpin(sum);
        *sum = wire;
    }

    fn list_behind(&mut self, info: InfoId, nodes: &mut Vec<InfoId>) {
        self.infos[info].references += 1;
        let order = self.infos[info].order;
        let at = nodes.partition_point(|&node| self.infos[node].order < order);
        nodes.insert(at, info);
    }

    pub(super) fn forget(&mut self, behind: Behind) {
        match behind {
            Behind::Truth(wire) => self.cells.unpin(&wire),
            Behind::Nodes(nodes) => nodes.into_iter().for_each(|info| self.release(info)),
            Behind::Trail(trail) => self.close_trail(trail),
        }
    }
}
