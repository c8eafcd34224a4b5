import NIOCore

extension RedisURL {
    /// Returns the same servers with another login, for example from a password file.
    public func loggingIn(as user: String?, with password: String) -> RedisURL {
        var url = self
        url.user = user
        url.password = password
        return url
    }

    /// The hosts that receive login and jobs unencrypted over a network: all except loopback, sockets and servers with TLS.
    public var hostsInClear: [String] {
        guard !usesTLS else { return [] }
        let addresses =
            switch topology {
            case .standalone(let address): [address]
            case .sentinel(_, let sentinels): sentinels
            case .cluster(let seeds): seeds
            }
        return addresses.compactMap { address in
            guard case .tcp(let host, _) = address, !address.isLoopback else { return nil }
            return host
        }
    }
}

extension RedisURL.Address {
    /// Whether it is reached without leaving the machine.
    fileprivate var isLoopback: Bool {
        guard case .tcp(let host, _) = self else { return true }
        if host.lowercased() == "localhost" { return true }
        // A name may begin with 127., too; a host that is not an IP address is not loopback.
        guard let address = socketAddress?.ipAddress else { return false }
        return address == "::1" || address.hasPrefix("127.") || address.hasPrefix("::ffff:127.")
    }
}
