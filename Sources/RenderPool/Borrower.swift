/// The job that a child is lent to.
public struct Borrower: Sendable {
    /// The tenant whose photos the child reads; empty: the operator. A child never reads photos of two tenants.
    package let tenant: String
    /// Returns whether another worker may do the job by now. The pool asks when the borrower's task is cancelled, on
    /// any thread, and reports the end of the child as ``ChildDeath/lostLease`` if so.
    let hasLostLease: @Sendable () -> Bool

    /// The operator at a shell, who has no lease.
    public static let `operator` = Borrower(tenant: "") { false }

    package init(tenant: String, hasLostLease: @escaping @Sendable () -> Bool) {
        self.tenant = tenant
        self.hasLostLease = hasLostLease
    }
}
