import Synchronization

/// The permits for open streams, counted for the gateway and for each key.
package final class StreamPermits: Sendable {
    /// The most open streams of one key.
    package static let perKeyMax = 1000

    private let most: Int
    private let open = Mutex<[String: Int]>([:])

    /// - Parameter most: the most open streams of all keys together.
    package init(atMost most: Int) { self.most = most }

    /// A permit for one stream, released by ``Permit/close()`` or by its deinitializer.
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

    /// The number of open streams.
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
