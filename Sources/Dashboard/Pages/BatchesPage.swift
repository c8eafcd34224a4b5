/// All batches: those that run, then those that have ended.
package struct BatchesPage: Page {
    package let frame: Frame
    package let title = "Batches"
    package let live: String? = Links.live("batches")
    let open: [BatchRow]
    let ended: [BatchRow]
    /// The next page of those that have ended.
    let nextHref: String?

    package static let section: Section? = .batches
    package static let template = "batches"
    package static let parts = ["open"]

    /// - Parameter next: the cursor behind the last one that ended; nil when there are no more.
    package init(_ frame: Frame, open: [BatchRow], ended: [BatchRow], next: String?) {
        self.frame = frame
        self.open = open
        self.ended = ended
        nextHref = next.map { Links.query(Links.batches, [("after", $0)]) }
    }
}
