import Synchronization

/// How many streams are open: of the gateway, and of each key.
package final class StreamPermits: Sendable {
    /// Most open streams of one key.
    package static let perKeyMax = 1000

    private let most: Int
    private let open = Mutex<[String: Int]>([:])

    /// - Parameter most: of all keys together.
    package init(atMost most: Int) { self.most = most }

    /// The right to one stream; given back by ``Permit/close()`` or with the permit.
    final class Permit: Sendable {
        private let permits: StreamPermits
        private let key: String
        private let isOpen = Mutex(true)

        fileprivate init(_ permits: StreamPermits, _ key: String) {
            self.permits = permits
            self.key = key
        }

        deinit { close() }

        func close() {
            let wasOpen = isOpen.withLock { isOpen in
                defer { isOpen = false }
                return isOpen
            }
            if wasOpen { permits.giveBack(key) }
        }
    }

    /// Streams that are open now.
    package var count: Int { open.withLock { $0.values.reduce(0, +) } }

    /// - Throws: `tooManyStreams`.
    func open(by key: String) throws(Problem) -> Permit {
        let isThere = open.withLock { open in
            guard open.values.reduce(0, +) < most, open[key, default: 0] < Self.perKeyMax else {
                return false
            }
            open[key, default: 0] += 1
            return true
        }
        guard isThere else {
            throw Problem(
                .tooManyStreams,
                "Too many streams are open: at most \(Self.perKeyMax) for a key and \(most) for this gateway. Share one "
                    + "among readers.", retryAfter: 10)
        }
        return Permit(self, key)
    }

    private func giveBack(_ key: String) {
        open.withLock { open in
            open[key, default: 1] -= 1
            if open[key] == 0 { open[key] = nil }
        }
    }
}
