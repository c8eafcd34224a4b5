import Edits
import BlobStore
import FoundationEssentials
import Library

/// The objects of a version, as listed by the bucket.
struct StoredVersion: Sendable, Equatable {
    var keys: [BlobKey] = []
    var bytes = 0
    /// The time at which the latest was stored, in seconds since 1970; nil if the store does not report it.
    var newest: Int?
    /// Those of them that are renditions, or the list of these.
    var renditions: [BlobPage.Entry] = []

    mutating func add(rendition entry: BlobPage.Entry) {
        add(entry)
        renditions.append(entry)
    }

    mutating func add(_ entry: BlobPage.Entry) {
        let modified = entry.modified?.seconds
        newest =
            keys.isEmpty ? modified : newest.flatMap { known in modified.map { max(known, $0) } }
        keys.append(entry.key)
        bytes += entry.size
    }
}

/// The part of a collection that one write of a head covers.
///
/// A version is removed in two steps. First its name moves to the trash, by a write that competes with
/// publications, so no version links to it any more. After the grace period, when no reader can still be reading
/// it, its objects are removed, and then its name.
struct CollectionPlan: Sendable, Equatable {
    /// The versions and bytes that are reported to the caller.
    var collected = Collected()
    /// The versions that move to the trash.
    var trashed: [String] = []
    /// The versions of the trash whose objects are due for removal.
    var due: [String] = []
    /// The number of versions of the head's list that are kept.
    var keptCount = 0
    /// Versions with a smaller revision are collected.
    var floor = 1
    /// The present time, in seconds since 1970.
    let now: Int
}

extension AssetHead {
    /// How long objects are kept after their name moved to the trash, in seconds: longer than any reader needs.
    static let readerGrace = 24 * 3600

    /// Decides which versions are collected.
    ///
    /// - Parameters:
    ///   - older: the kept versions that are older than the list, newest first.
    ///   - stored: the objects in the bucket, by version.
    func collecting(
        older: [Entry], stored: [String: StoredVersion], keeping retention: Retention, now: Date
    ) -> CollectionPlan {
        let seconds = Int(now.timeIntervalSince1970)
        var plan = CollectionPlan(now: seconds)
        let all = history + older
        let due = trash.filter { seconds - $0.at >= Self.readerGrace }
        var room = Self.trashMax - trash.count
        // Oldest first, and limited by the room in the trash, so that the history has no gaps.
        let kept = max(
            retention.keptCount(of: all.map(\.date), now: now), all.count - max(0, room))
        let going = all.dropFirst(kept).reversed().map(\.version)
        let pinned = Set(all.prefix(kept).flatMap(\.links) + (draft?.links ?? []))
        plan.keptCount = min(kept, history.count)
        plan.floor = all.prefix(kept).last.flatMap { VersionName($0.version)?.revision } ?? floor
        plan.collected.versions = going
        plan.trashed = going.filter { !pinned.contains($0) }
        room -= plan.trashed.count

        let known = Set(
            all.map(\.version) + trash.map(\.version) + [draft?.version].compactMap(\.self)
        )
        .union(pinned)
        let orphans = stored.keys.filter { name in
            guard !known.contains(name), let newest = stored[name]?.newest,
                let revision = VersionName(name)?.revision
            else { return false }
            return retention.collectsOrphan(
                made: Date(timeIntervalSince1970: Double(newest)),
                mayHaveBeenCurrent: isBehindList(revision), now: now)
        }
        plan.collected.orphans = Array(orphans.sorted().prefix(max(0, room)))
        plan.trashed += plan.collected.orphans
        plan.collected.bytes = plan.trashed.reduce(0) { $0 + (stored[$1]?.bytes ?? 0) }
        plan.due = due.map(\.version).filter { !pinned.contains($0) }
        return plan
    }

    /// Returns whether a version of a revision may be older than the list, and kept.
    private func isBehindList(_ revision: Int) -> Bool {
        history.count == Self.historyMax && revision >= floor
            && revision < history.last.flatMap({ VersionName($0.version)?.revision }) ?? 0
    }

    /// Returns the head after a part of a collection.
    ///
    /// - Parameter removed: the versions of the trash whose objects were removed.
    /// - Returns: nil if nothing changes.
    func collected(_ plan: CollectionPlan, removed: Set<String>) -> AssetHead? {
        guard
            !plan.trashed.isEmpty || !removed.isEmpty || plan.keptCount < history.count
                || plan.floor > floor && !plan.collected.versions.isEmpty
        else { return nil }
        return changed { head in
            head.keep(plan.keptCount, floor: plan.floor)
            head.removeFromTrash(removed)
            head.moveToTrash(plan.trashed, at: plan.now)
        }
    }
}

extension AssetHead.Entry {
    /// The time of creation; nil if it cannot be read.
    var date: Date? { Date(recorded: at) }
}
