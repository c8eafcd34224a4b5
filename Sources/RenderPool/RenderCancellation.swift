/// The reason for which a render's task is cancelled, known to the task that started it.
package enum RenderCancellation {
    /// Returns whether the present task is cancelled because another worker may do its work by now. The pool then
    /// reports the end of the child as ``ChildDeath/lostLease``.
    @TaskLocal package static var isForLostLease: @Sendable () -> Bool = { false }
}
