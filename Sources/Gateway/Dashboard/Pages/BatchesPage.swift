/// The page of all batches: the running ones first, then the ended ones.
package struct BatchesPage: Page {
    package let frame: Frame
    package let title = "Batches"
    package let live: String? = Links.live("batches")
    let open: [BatchRow]
    let ended: [BatchRow]
    /// The next page of the ended batches.
    let nextHref: String?

    package static let section: Section? = .batches
    package static let template = "batches"
    package static let parts = ["open"]

    /// - Parameter next: the cursor after the last ended batch; nil at the end.
    package init(_ frame: Frame, open: [BatchRow], ended: [BatchRow], next: String?) {
        self.frame = frame
        self.open = open
        self.ended = ended
        nextHref = next.map { Links.query(Links.batches, [("after", $0)]) }
    }
}
