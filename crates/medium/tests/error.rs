//! Frame success against the published points of the NIST model: 2000-byte frames, legacy OFDM, AWGN.

use netburn_medium::error::success;
use netburn_medium::phy::{Modulation, ofdm::Rate};

#[test]
fn nist_points() {
    let points = [
        (Rate::M6, 3.0, 0.020),
        (Rate::M6, 4.0, 0.885),
        (Rate::M6, 5.0, 0.997),
        (Rate::M9, 6.0, 0.097),
        (Rate::M9, 7.0, 0.918),
        (Rate::M12, 6.0, 0.017),
        (Rate::M12, 7.0, 0.881),
        (Rate::M12, 8.0, 0.997),
        (Rate::M18, 9.5, 0.623),
        (Rate::M18, 10.5, 0.985),
        (Rate::M24, 13.0, 0.495),
        (Rate::M24, 14.0, 0.974),
        (Rate::M36, 15.5, 0.012),
        (Rate::M36, 16.5, 0.818),
        (Rate::M36, 17.5, 0.993),
        (Rate::M48, 21.0, 0.649),
        (Rate::M48, 22.0, 0.983),
        (Rate::M54, 22.0, 0.410),
        (Rate::M54, 23.0, 0.958),
        (Rate::M54, 24.0, 0.999),
    ];
    for (rate, snr, expected) in points {
        let got = success(Modulation::Ofdm(rate), snr, 2000 * 8);
        println!("{rate:?} {snr} dB: {got:.4}, published {expected}");
        assert!(
            (got - expected).abs() < 0.02,
            "{rate:?} at {snr} dB: {got:.4}, published {expected}"
        );
    }
}
