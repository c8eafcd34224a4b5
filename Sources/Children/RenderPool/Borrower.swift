public import Edits

/// The job or the command that a child is lent to.
public struct Borrower: Sendable {
    /// The owner of the photos that the child reads. A child never reads photos of two owners.
    package let owner: Owner
    /// Returns whether another worker may do the job by now. The pool asks when the borrower's task is cancelled, on
    /// any thread, and reports the end of the child as ``ChildDeath/lostLease`` if so.
    let hasLostLease: @Sendable () -> Bool

    /// Creates a borrower. Without `hasLostLease`, it has no lease that it could lose.
    public init(_ owner: Owner, hasLostLease: @escaping @Sendable () -> Bool = { false }) {
        self.owner = owner
        self.hasLostLease = hasLostLease
    }
}
