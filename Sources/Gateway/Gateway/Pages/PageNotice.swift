import Dashboard

/// The confirmation that a page shows after a form. The URL has a code and no text, because anyone could put text into
/// a link.
enum PageNotice: String {
    case cancelled, stopping, replayed, triedAsDraft, replayStarted, replayStopped, paused, resumed,
        limited
    case published, discarded, undone, redone, repaired, revoked, tested, notAccepted, sentAgain,
        deleted
    case saved, signedOut

    var notice: Notice {
        switch self {
        case .cancelled: Notice(.done, "Cancelled.")
        case .stopping: Notice(.done, "Its worker was asked to stop it.")
        case .replayed: Notice(.done, "Started again.")
        case .triedAsDraft:
            Notice(.done, "This job makes the draft; see it on the page of its asset.")
        case .replayStarted: Notice(.done, "The replay runs.")
        case .replayStopped:
            Notice(.done, "The replay is stopped; the jobs that it started continue.")
        case .paused: Notice(.done, "Paused; what runs is finished.")
        case .resumed: Notice(.done, "Workers begin jobs again.")
        case .limited: Notice(.done, "The limits hold from now on.")
        case .published: Notice(.done, "A job that publishes the draft is on its way.")
        case .discarded: Notice(.done, "A job that discards the draft is on its way.")
        case .undone: Notice(.done, "A job that undoes the last edit is on its way.")
        case .redone: Notice(.done, "A job that redoes the edit is on its way.")
        case .repaired: Notice(.done, "What could be mended was mended.")
        case .revoked: Notice(.done, "The key is revoked on every gateway.")
        case .tested: Notice(.done, "The endpoint accepted the test.")
        case .notAccepted: Notice(.trouble, "The endpoint did not accept it; its answer is below.")
        case .sentAgain: Notice(.done, "Sent again, and accepted.")
        case .deleted: Notice(.done, "The endpoint is deleted.")
        case .saved: Notice(.done, "Saved.")
        case .signedOut: Notice(.done, "You are signed out.")
        }
    }
}
