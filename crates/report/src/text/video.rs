//! Facts about one direction of a video call.

use super::delivery::delays;
use super::why::counted;
use netburn_analysis::format::{fine_percent, mbps, span};
use netburn_record::summary::{DeliverySummary, VideoSummary};

/// Meaning of the values of video calls.
pub(crate) const NOTE: &str = "The frame delay is the time from the due time of a frame to the arrival of its last packet. Lost packets are sent again. A frame that is not complete within the time-out is lost. A freeze is a time between two shown frames of at least max(3 × mean, mean + 150 ms), where the mean is that of the last 30 such times (webrtc-stats).";

/// Frame delay, lost frames, freezes, and rate.
pub(super) fn facts(frames: &DeliverySummary, video: &VideoSummary) -> Vec<String> {
    let mut facts = Vec::new();
    match (frames.delay_ms.filter(|delay| delay.max.is_some()), frames.packets) {
        (Some(delay), _) => facts.extend(delays("frame delay", &delay)),
        (None, 0) => return vec!["no frame was sent".to_owned()],
        (None, count) => facts.push(format!("none of {} was complete", counted(count, "frame"))),
    }
    if frames.delay_ms.is_some_and(|delay| delay.max.is_some()) {
        facts.push(match frames.longest_loss_packets {
            0 => "no frame lost".to_owned(),
            longest => format!(
                "{} of the frames lost, at most {longest} in a row",
                fine_percent(frames.lost_share.unwrap_or(0.0))
            ),
        });
    }
    facts.push(freezes(video));
    let target = mbps(video.target_mbps);
    if let (Some(rate), Some(share)) = (video.rate_mbps, video.at_target_share) {
        let rate = mbps(rate);
        facts.push(format!(
            "{rate} Mbit/s on average, at the target of {target} Mbit/s for {} of the time",
            fine_percent(share)
        ));
    }
    facts
}

/// `no freeze`, or `2 freezes, 1.20 s in all (2 % of the time), the longest 900 ms`.
fn freezes(video: &VideoSummary) -> String {
    if video.freezes == 0 {
        return "no freeze".to_owned();
    }
    format!(
        "{}, {} in all ({} of the time), the longest {}",
        counted(video.freezes, "freeze"),
        span(video.total_freezes_ms),
        fine_percent(video.frozen_share.unwrap_or(0.0)),
        span(video.longest_freeze_ms)
    )
}
