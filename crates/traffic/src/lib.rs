//! Real HTTP and datagrams, client and server, and the consent a server gives.
