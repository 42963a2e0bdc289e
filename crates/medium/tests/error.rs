//! Frame success compared with the published points of the NIST model: 2000-byte frames, legacy
//! OFDM, AWGN.

use netburn_medium::error::success;
use netburn_medium::phy::{Modulation, dsss, ofdm::Rate};

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

/// DBPSK over an AWGN channel: ½ exp(−Eb/N0), with the 22 MHz of noise shared out over the bits. At −13.424 dB Eb/N0 is 1, and a bit is
/// wrong with 0.1839; at −10.414 dB it is 2, and one is wrong with 0.0677. DQPSK needs 2.3 dB more (non-coherent bound).
#[test]
fn dsss_by_hand() {
    let bit = |rate, snr_db| 1.0 - success(Modulation::Dsss(rate), snr_db, 1);
    let near = |got: f64, expected: f64| assert!((got - expected).abs() < 2e-4, "{got} in place of {expected}");
    near(bit(dsss::Rate::M1, -13.424), 0.183_94);
    near(bit(dsss::Rate::M1, -10.414), 0.067_67);
    // ½ erfc(√(0.2929 Eb/N0)): of 1 it is ½ erfc(0.5412) = 0.2220.
    near(bit(dsss::Rate::M2, -10.414), 0.222_0);
    // All bits of a frame.
    let frame = success(Modulation::Dsss(dsss::Rate::M1), -5.0, 100);
    let one = success(Modulation::Dsss(dsss::Rate::M1), -5.0, 1);
    assert!((frame - one.powi(100)).abs() < 1e-9);
}
