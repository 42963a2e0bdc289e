//! Cost of traffic: airtime, aggregates, collisions, from the air's accounts.

use netburn_medium::air::Account;

/// Airtime, PPDUs and MPDUs of a node between two samples of its account.
///
/// # Panics
/// If `after` was sampled before `before`.
#[must_use]
pub fn between(before: &Account, after: &Account) -> Account {
    Account {
        sent: after.sent - before.sent,
        received: after.received - before.received,
        transmissions: after.transmissions - before.transmissions,
        collisions: after.collisions - before.collisions,
        mpdus: after.mpdus - before.mpdus,
        ..Account::default()
    }
}

/// Each account's share of the airtime of all of them, sent and received; zero if there is no
/// airtime.
#[must_use]
pub fn airtime_shares(accounts: &[Account]) -> Vec<f64> {
    let airtime = |account: &Account| (account.sent + account.received).as_nanos();
    let all: u64 = accounts.iter().map(airtime).sum();
    let share = |account| airtime(account) as f64 / all.max(1) as f64;
    accounts.iter().map(share).collect()
}

/// MPDUs per data PPDU that an account's node sent; `None` if it sent none.
#[must_use]
pub fn mean_aggregate(account: &Account) -> Option<f64> {
    (account.transmissions > 0).then(|| account.mpdus as f64 / account.transmissions as f64)
}

/// Share of data PPDUs that collided; `None` if none were sent.
#[must_use]
pub fn collided(account: &Account) -> Option<f64> {
    (account.transmissions > 0).then(|| account.collisions as f64 / account.transmissions as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_units::Duration;

    #[test]
    fn shares_by_hand() {
        let account = |sent, received| Account {
            sent: Duration::from_micros(sent),
            received: Duration::from_micros(received),
            transmissions: 4,
            mpdus: 10,
            collisions: 1,
            ..Account::default()
        };
        let accounts = [account(100, 200), account(0, 100), account(0, 0)];
        assert_eq!(airtime_shares(&accounts), [0.75, 0.25, 0.0]);
        assert_eq!(airtime_shares(&[Account::default()]), [0.0]);
        assert_eq!(mean_aggregate(&accounts[0]), Some(2.5));
        assert_eq!(collided(&accounts[0]), Some(0.25));
        assert_eq!(mean_aggregate(&Account::default()), None);
        assert_eq!(between(&accounts[1], &accounts[0]).received, Duration::from_micros(100));
    }
}
