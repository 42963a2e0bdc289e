//! Contour lines of values on a grid: marching squares.

/// A point of the plane.
pub(super) type Point = (f64, f64);

/// Segments of the line along which the values equal `level`, interpolated linearly between neighbours. `x` and `y` are the
/// ascending positions of the grid, and `values[row][column]` its values. Squares with an unknown corner have no line.
pub(super) fn contour(x: &[f64], y: &[f64], values: &[Vec<Option<f64>>], level: f64) -> Vec<(Point, Point)> {
    let mut segments = Vec::new();
    for row in 0..y.len().saturating_sub(1) {
        for column in 0..x.len().saturating_sub(1) {
            let (left, right, bottom, top) = (x[column], x[column + 1], y[row], y[row + 1]);
            // Counterclockwise from the lower left.
            let corners = [
                (left, bottom, values[row][column]),
                (right, bottom, values[row][column + 1]),
                (right, top, values[row + 1][column + 1]),
                (left, top, values[row + 1][column]),
            ];
            square(corners, level, &mut segments);
        }
    }
    segments
}

fn square(corners: [(f64, f64, Option<f64>); 4], level: f64, segments: &mut Vec<(Point, Point)>) {
    let [Some(a), Some(b), Some(c), Some(d)] = corners.map(|(_, _, value)| value) else {
        return;
    };
    let values = [a, b, c, d];
    let crossing = |from: usize, to: usize| -> Option<Point> {
        let (low, high) = (values[from], values[to]);
        if (low >= level) == (high >= level) {
            return None;
        }
        let share = (level - low) / (high - low);
        let ((x0, y0, _), (x1, y1, _)) = (corners[from], corners[to]);
        Some((x0 + (x1 - x0) * share, y0 + (y1 - y0) * share))
    };
    let sides = [crossing(0, 1), crossing(1, 2), crossing(2, 3), crossing(3, 0)];
    match sides {
        // Opposite corners are on the same side of the level: the mean decides which of them are connected.
        [Some(bottom), Some(right), Some(top), Some(left)] => {
            let middle = values.iter().sum::<f64>() / 4.0;
            if (middle >= level) == (values[0] >= level) {
                segments.extend([(bottom, right), (top, left)]);
            } else {
                segments.extend([(left, bottom), (right, top)]);
            }
        }
        sides => {
            let mut points = sides.into_iter().flatten();
            if let (Some(from), Some(to)) = (points.next(), points.next()) {
                segments.push((from, to));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn known(values: &[&[f64]]) -> Vec<Vec<Option<f64>>> {
        values
            .iter()
            .map(|row| row.iter().copied().map(Some).collect())
            .collect()
    }

    #[test]
    fn a_line_crosses_between_lower_and_higher_values() {
        // 0 below, 4 above: the level 1 is at a quarter of the height.
        let lines = contour(&[0.0, 2.0], &[0.0, 8.0], &known(&[&[0.0, 0.0], &[4.0, 4.0]]), 1.0);
        assert_eq!(lines, [((2.0, 2.0), (0.0, 2.0))]);
        // A saddle whose middle, 2, is above the level: the high corners are connected.
        let lines = contour(&[0.0, 1.0], &[0.0, 1.0], &known(&[&[4.0, 0.0], &[0.0, 4.0]]), 1.0);
        assert_eq!(lines, [((0.75, 0.0), (1.0, 0.25)), ((0.25, 1.0), (0.0, 0.75))]);
        let lines = contour(&[0.0, 1.0], &[0.0, 1.0], &known(&[&[4.0, 0.0], &[0.0, 4.0]]), 3.0);
        assert_eq!(lines, [((0.0, 0.25), (0.25, 0.0)), ((1.0, 0.75), (0.75, 1.0))]);
        let mut unknown = known(&[&[0.0, 0.0], &[4.0, 4.0]]);
        unknown[0][1] = None;
        assert!(contour(&[0.0, 2.0], &[0.0, 8.0], &unknown, 1.0).is_empty());
        assert!(contour(&[0.0], &[0.0], &known(&[&[1.0]]), 1.0).is_empty());
    }

    proptest! {
        /// On a plane, all points of a contour have its level.
        #[test]
        fn contours_of_a_plane_are_straight(a in -5.0..5.0_f64, b in -5.0..5.0_f64, level in -20.0..20.0_f64) {
            let places: Vec<f64> = (0..6).map(|place| f64::from(place * place)).collect();
            let plane = |x: f64, y: f64| a * x + b * y;
            let values: Vec<Vec<Option<f64>>> =
                places.iter().map(|y| places.iter().map(|x| Some(plane(*x, *y))).collect()).collect();
            for (from, to) in contour(&places, &places, &values, level) {
                for (x, y) in [from, to] {
                    prop_assert!((plane(x, y) - level).abs() < 1e-9);
                }
            }
        }
    }
}
