//! `preceding::a[last()]`: the first node of the document that is closed and passes.
//!
//! Closed nodes are remembered in document order up to the first that is sure to pass: whatever
//! comes behind it is the last of no context. An ancestor closes after the nodes inside it and then
//! stands before them. A context that opens meets those that are undecided and the sure one.

use super::Circuit;
use super::cells::Wire;
use super::frames::{Behind, Spot, Target};
use super::ids::{InfoId, RouteId};

impl Circuit {
    /// One more closed node that a step looks back at.
    pub(super) fn list_farthest(&mut self, id: RouteId, info: InfoId, nodes: &mut Vec<InfoId>) {
        let passed = self.passed_before(id, info);
        if passed.is_false() {
            return;
        }
        let order = self.infos[info].order;
        let at = nodes.partition_point(|&node| self.infos[node].order < order);
        // Only the first may be sure, so what is undecided in between is all there is.
        if at > 0 && self.passed_before(id, nodes[at - 1]).is_true() {
            return;
        }
        self.infos[info].references += 1;
        nodes.insert(at, info);
        if passed.is_true() {
            nodes
                .drain(at + 1..)
                .for_each(|behind| self.release(behind));
        }
    }

    /// Sends the last node that a step looks back at, from the opening node, to a target.
    pub(super) fn spread_farthest(&mut self, id: RouteId, target: Target, when: Wire) {
        let Some(Behind::Nodes(nodes)) = self.behind.get_mut(id) else {
            return;
        };
        let mut kept = std::mem::take(nodes);
        let mut is_sure = false;
        let mut none_before = when;
        kept.retain(|&info| {
            self.count_pairs(1);
            let passed = self.passed_before(id, info);
            if is_sure || passed.is_false() {
                self.release(info);
                return false;
            }
            is_sure = passed.is_true();
            let is_last = self.and(none_before.clone(), passed.clone());
            self.deliver_picked(id, Spot::Late(info), target, &is_last);
            let fails = self.not(&passed);
            none_before = self.and(none_before.clone(), fails);
            true
        });
        if let Some(behind) = self.behind.get_mut(id) {
            *behind = Behind::Nodes(kept);
        }
    }

    /// Whether a remembered node passes the predicates before the position.
    fn passed_before(&mut self, id: RouteId, info: InfoId) -> Wire {
        let end = self.table[id].end.clone();
        end.map_or(Wire::TRUE, |end| {
            self.pass_guards(&end, Spot::Late(info), Wire::TRUE)
        })
    }
}
