//! Map from tins to values, indexed by numbers.

use super::StationTid;

/// Values by tin.
#[derive(Debug)]
pub(crate) struct Tins<T> {
    /// By receiver and TID: index in `entries` plus one; 0: none.
    places: Vec<u16>,
    entries: Vec<(StationTid, T)>,
}

impl<T> Default for Tins<T> {
    fn default() -> Self {
        Tins {
            places: Vec::new(),
            entries: Vec::new(),
        }
    }
}

impl<T> Tins<T> {
    #[inline]
    pub(crate) fn get(&self, tin: StationTid) -> Option<&T> {
        Some(&self.entries[self.place(tin)?].1)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, tin: StationTid) -> Option<&mut T> {
        let place = self.place(tin)?;
        Some(&mut self.entries[place].1)
    }

    /// Value of a tin, created by `make` if there is none.
    #[inline]
    pub(crate) fn entry(&mut self, tin: StationTid, make: impl FnOnce() -> T) -> &mut T {
        let place = match self.place(tin) {
            Some(place) => place,
            None => self.add(tin, make()),
        };
        &mut self.entries[place].1
    }

    /// All values, in the order of tins.
    pub(crate) fn in_order(&mut self) -> impl Iterator<Item = &mut T> {
        self.entries.sort_unstable_by_key(|(tin, _)| *tin);
        for (place, (tin, _)) in (1..).zip(&self.entries) {
            self.places[number(*tin)] = place;
        }
        self.entries.iter_mut().map(|(_, value)| value)
    }

    #[inline]
    fn place(&self, tin: StationTid) -> Option<usize> {
        usize::from(*self.places.get(number(tin))?).checked_sub(1)
    }

    #[cold]
    fn add(&mut self, tin: StationTid, value: T) -> usize {
        let number = number(tin);
        if self.places.len() <= number {
            self.places.resize(number + 1, 0);
        }
        self.entries.push((tin, value));
        self.places[number] = u16::try_from(self.entries.len()).expect("fewer than 65 536 tins at one node");
        self.entries.len() - 1
    }
}

/// Maximum number of TIDs of a receiver: four bits of QoS control.
const TIDS: usize = 16;

fn number(tin: StationTid) -> usize {
    tin.to.index() * TIDS + usize::from(tin.tid) % TIDS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::NodeId;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn it_is_a_map(steps in prop::collection::vec((0_u16..20, 0_u8..8, any::<u32>(), any::<bool>()), 1..100)) {
            let (mut tins, mut map) = (Tins::default(), BTreeMap::new());
            for (to, tid, value, sorts) in steps {
                let tin = StationTid { to: NodeId(to), tid };
                prop_assert_eq!(tins.get(tin), map.get(&tin));
                *tins.entry(tin, || 0) = value;
                map.insert(tin, value);
                prop_assert_eq!(tins.get_mut(tin).copied(), Some(value));
                if sorts {
                    let in_order: Vec<u32> = tins.in_order().map(|value| *value).collect();
                    prop_assert_eq!(in_order, map.values().copied().collect::<Vec<_>>());
                }
            }
        }
    }
}
