//! Converts points to paths: in tenths of a unit, relative to the previous point, which keeps them
//! short.

use super::writer::SvgWriter;
use crate::chart::Datum;
use std::fmt::Write as _;

type Place<'a> = &'a dyn Fn(f64) -> f64;

/// Reduces points to at most `most`. Each represents some neighbours by their minimum, maximum and
/// median, so no extreme is lost.
pub(crate) fn thin(all: &[Datum], most: usize) -> Vec<Datum> {
    if all.len() <= most {
        return all.to_vec();
    }
    let each = all.len().div_ceil(most.max(1));
    let thinned = all.chunks(each).map(|chunk| {
        let values = || chunk.iter().flat_map(Datum::values);
        let mut middles: Vec<f64> = chunk.iter().filter_map(|datum| datum.y).collect();
        middles.sort_by(f64::total_cmp);
        Datum {
            x: chunk[chunk.len() / 2].x,
            y: (!middles.is_empty()).then(|| middles[middles.len() / 2]),
            low: values().reduce(f64::min),
            high: values().reduce(f64::max),
        }
    });
    thinned.collect()
}

/// A line through all points with a value; a single point between gaps is a dot.
pub(super) fn line(svg: &mut SvgWriter, all: &[Datum], colour_index: usize, steps: bool, x: Place<'_>, y: Place<'_>) {
    let (mut path, mut dots) = (Path::default(), Path::default());
    for run in all.split(|datum| datum.y.is_none()).filter(|run| !run.is_empty()) {
        let places = run.iter().filter_map(|datum| Some((x(datum.x), y(datum.y?))));
        let places: Vec<(f64, f64)> = places.collect();
        if let [only] = places[..] {
            dots.dot(only);
            continue;
        }
        path.begin(places[0]);
        for pair in places.windows(2) {
            if steps {
                path.to((pair[1].0, pair[0].1));
            }
            path.to(pair[1]);
        }
    }
    svg.stroke(&path.text, colour_index, 1.8, 1.0);
    svg.stroke(&dots.text, colour_index, 4.0, 1.0);
}

/// The area from the least to the largest; a whisker between gaps.
pub(super) fn band(svg: &mut SvgWriter, all: &[Datum], colour_index: usize, x: Place<'_>, y: Place<'_>) {
    let (mut area, mut whiskers) = (Path::default(), Path::default());
    let ranged = |datum: &Datum| Some((x(datum.x), y(datum.low?), y(datum.high?)));
    for run in all.split(|datum| ranged(datum).is_none()).filter(|run| !run.is_empty()) {
        let places: Vec<(f64, f64, f64)> = run.iter().filter_map(ranged).collect();
        if let [(x, low, high)] = places[..] {
            if low - high > 0.5 {
                whiskers.begin((x, low));
                whiskers.to((x, high));
            }
            continue;
        }
        area.begin((places[0].0, places[0].2));
        places[1..].iter().for_each(|(x, _, high)| area.to((*x, *high)));
        places.iter().rev().for_each(|(x, low, _)| area.to((*x, *low)));
        area.text.push('z');
    }
    svg.fill(&area.text, colour_index);
    svg.stroke(&whiskers.text, colour_index, 2.0, 0.4);
}

/// Dots, each with its range.
pub(super) fn points(svg: &mut SvgWriter, all: &[Datum], colour_index: usize, x: Place<'_>, y: Place<'_>) {
    let (mut dots, mut whiskers) = (Path::default(), Path::default());
    for datum in all {
        if let (Some(low), Some(high)) = (datum.low, datum.high)
            && y(low) - y(high) > 0.5
        {
            whiskers.begin((x(datum.x), y(low)));
            whiskers.to((x(datum.x), y(high)));
        }
        if let Some(value) = datum.y {
            dots.dot((x(datum.x), y(value)));
        }
    }
    svg.stroke(&whiskers.text, colour_index, 2.0, 0.4);
    svg.stroke(&dots.text, colour_index, 4.0, 1.0);
}

/// A path under construction.
#[derive(Default)]
struct Path {
    text: String,
    /// Position of the pen, in tenths of a unit.
    at: (i64, i64),
}

impl Path {
    fn begin(&mut self, place: (f64, f64)) {
        self.at = tenths(place);
        self.text.push('M');
        self.number(self.at.0, false);
        self.number(self.at.1, true);
    }

    fn to(&mut self, place: (f64, f64)) {
        let to = tenths(place);
        let (x, y) = (to.0 - self.at.0, to.1 - self.at.1);
        self.at = to;
        match (x, y) {
            (0, 0) => {}
            (x, 0) => {
                self.text.push('h');
                self.number(x, false);
            }
            (0, y) => {
                self.text.push('v');
                self.number(y, false);
            }
            (x, y) => {
                self.text.push('l');
                self.number(x, false);
                self.number(y, true);
            }
        }
    }

    fn dot(&mut self, place: (f64, f64)) {
        self.begin(place);
        self.text.push_str("h0");
    }

    fn number(&mut self, tenths: i64, second: bool) {
        if second && tenths >= 0 {
            self.text.push(' ');
        }
        let sign = if tenths < 0 { "-" } else { "" };
        let (whole, rest) = (tenths.unsigned_abs() / 10, tenths.unsigned_abs() % 10);
        let _ = match rest {
            0 => write!(self.text, "{sign}{whole}"),
            rest => write!(self.text, "{sign}{whole}.{rest}"),
        };
    }
}

fn tenths((x, y): (f64, f64)) -> (i64, i64) {
    ((x * 10.0).round() as i64, (y * 10.0).round() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_path_is_relative_and_ends_where_it_should() {
        let mut path = Path::default();
        path.begin((1.0, 2.04));
        for place in [(2.0, 2.0), (2.0, 1.5), (3.25, -1.0)] {
            path.to(place);
        }
        assert_eq!(path.text, "M1 2h1v-0.5l1.3-2.5");
        assert_eq!(path.at, (33, -10));
    }

    proptest! {
        #[test]
        fn thinning_loses_no_extreme(values in prop::collection::vec(prop::option::of(0.0_f64..1e6), 1..500), most in 1_usize..100) {
            let all: Vec<Datum> = values.iter().zip(0..).map(|(y, x)| Datum::new(f64::from(x), *y)).collect();
            let thinned = thin(&all, most);
            prop_assert!(thinned.len() <= most);
            let extreme = |of: &[Datum], pick: fn(f64, f64) -> f64| of.iter().flat_map(Datum::values).reduce(pick);
            prop_assert_eq!(extreme(&all, f64::min), extreme(&thinned, f64::min));
            prop_assert_eq!(extreme(&all, f64::max), extreme(&thinned, f64::max));
        }
    }
}
