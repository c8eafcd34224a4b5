import NIOCore

extension RedisURL {
    /// The same servers with another login, as from a file that holds a password.
    public func loggingIn(as user: String?, with password: String) -> RedisURL {
        var url = self
        url.user = user
        url.password = password
        return url
    }

    /// The hosts that get login and jobs in clear over a network: all but loopback, sockets and those behind TLS.
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
        // A name may begin with 127., too; what is no address is none of loopback.
        guard let address = socketAddress?.ipAddress else { return false }
        return address == "::1" || address.hasPrefix("127.") || address.hasPrefix("::ffff:127.")
    }
}
