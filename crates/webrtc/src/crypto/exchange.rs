//! Key exchange with ephemeral keys.

use super::failed;
use dimpl::crypto::{ActiveKeyExchange, Buf, NamedGroup, SupportedKxGroup};
use dimpl::{CryptoError, CryptoOperation};
use ring::agreement::{self, EphemeralPrivateKey, UnparsedPublicKey};
use ring::rand::SystemRandom;

pub(super) const GROUPS: &[&dyn SupportedKxGroup] = &[
    &Group {
        name: NamedGroup::X25519,
        algorithm: &agreement::X25519,
    },
    &Group {
        name: NamedGroup::Secp256r1,
        algorithm: &agreement::ECDH_P256,
    },
];

#[derive(Debug)]
struct Group {
    name: NamedGroup,
    algorithm: &'static agreement::Algorithm,
}

impl SupportedKxGroup for Group {
    fn name(&self) -> NamedGroup {
        self.name
    }

    fn start_exchange(&self, mut public: Buf) -> Result<Box<dyn ActiveKeyExchange>, CryptoError> {
        let wrong = |_| failed(CryptoOperation::StartKeyExchange);
        let secret = EphemeralPrivateKey::generate(self.algorithm, &SystemRandom::new()).map_err(wrong)?;
        let key = secret.compute_public_key().map_err(wrong)?;
        public.clear();
        public.extend_from_slice(key.as_ref());
        Ok(Box::new(Exchange {
            name: self.name,
            algorithm: self.algorithm,
            secret,
            public,
        }))
    }
}

#[derive(Debug)]
struct Exchange {
    name: NamedGroup,
    algorithm: &'static agreement::Algorithm,
    secret: EphemeralPrivateKey,
    public: Buf,
}

impl ActiveKeyExchange for Exchange {
    fn pub_key(&self) -> &[u8] {
        &self.public
    }

    fn complete(self: Box<Self>, peer: &[u8], out: &mut Buf) -> Result<(), CryptoError> {
        let Exchange { algorithm, secret, .. } = *self;
        let agreed = agreement::agree_ephemeral(secret, &UnparsedPublicKey::new(algorithm, peer), |shared| {
            out.clear();
            out.extend_from_slice(shared);
        });
        agreed.map_err(|_| failed(CryptoOperation::CompleteKeyExchange))
    }

    fn group(&self) -> NamedGroup {
        self.name
    }
}
