import Edits

/// The metadata to remove from a movie. Its pictures, sounds and times stay.
///
/// Where the location is removed, only what is known to have none stays: makers of cameras have boxes, keys and tracks of their own for places,
/// and some write them into subtitles.
public enum MovieStrip: Sendable {
    case none
    case location
    /// Everything except for the identifiers that the two halves of a Live Photo need.
    case all

    /// Boxes of a file that are no metadata. Room for a longer header (`wide`) is not needed: it may have any content.
    static let media: Set<String> = ["ftyp", "mdat"]

    /// Boxes that are no metadata, by the box around them (ISO/IEC 14496-12 §8, QuickTime File Format). What a program must not know to show a
    /// movie has none of its own: descriptions of objects (`iods`), mattes, hints for loading.
    static let structures: [BoxType: Set<BoxType>] = [
        "moov": ["mvhd", "trak"],
        "trak": ["tkhd", "tref", "edts", "mdia", "tapt", "clip", "txas"],
        "edts": ["elst"],
        "mdia": ["mdhd", "hdlr", "elng", "minf"],
        "minf": ["vmhd", "smhd", "hmhd", "nmhd", "sthd", "gmhd", "hdlr", "dinf", "stbl"],
        "dinf": ["dref"],
        "stbl": [
            "stsd", "stts", "ctts", "cslg", "stsc", "stsz", "stz2", "stco", "co64", "stss", "stps",
            "stsh", "stdp", "sdtp", "padb", "sgpd", "sbgp", "subs", "saiz", "saio",
        ],
    ]

    /// Entries of `udta`, and of a list of values without keys, that stay: titles, names, dates, makers, programs, and settings of windows.
    ///
    /// Source: QuickTime File Format, "User data atoms"; 3GPP TS 26.244 §8; iTunes' values.
    private static let entries: Set<BoxType> = [
        "©nam", "©ART", "©alb", "©aut", "©cmt", "©cpy", "©day", "©des", "©dir", "©ed1", "©enc",
        "©fmt", "©gen", "©grp", "©inf", "©isr", "©lyr", "©mak", "©mod", "©phg", "©prd", "©prf",
        "©req", "©src", "©st3", "©swr", "©too", "©trk", "©wrt", "aART", "albm", "auth", "cprt",
        "desc", "dscp", "gnre", "hdvd", "hinf", "hnti", "kywd", "ldes", "name", "perf", "pgap",
        "rtng", "stik", "tagc", "titl", "tmpo", "trkn", "yrrc", "LOOP", "SelO", "AllF", "WLOC",
    ]

    /// Returns whether an entry of `udta` or of a list of values is removed.
    func leavesOut(_ entry: MovieBox) -> Bool {
        switch self {
        case .none: false
        case .location:
            !Self.entries.contains(entry.type) || CoordinateText.isIn(entry.bytes)
                || !CoordinateText.places(in: Self.texts(of: entry)).isEmpty
        case .all: true
        }
    }

    /// The texts of an entry of QuickTime's user data: for each language two bytes of length, two of the language, and the text.
    private static func texts(of entry: MovieBox) -> [[UInt8]] {
        var (texts, rest) = ([[UInt8]](), entry.bytes[...])
        while rest.count >= 4 {
            let length = rest.number(at: 0, 2)
            guard length > 0, length <= rest.count - 4 else { break }
            texts.append(Array(rest.dropFirst(4).prefix(length)))
            rest = rest.dropFirst(4 + length)
        }
        return texts
    }

    /// Kinds of values that stay: texts and numbers, and those of iTunes, which state none. Pictures have metadata of their own (QuickTime File
    /// Format, "Well-known types").
    static let valueTypes = Set([0, 1, 2, 4, 5]).union(21...24).union(65...79)

    /// Groups of samples that stay: where decoding and layers begin. Source: ISO/IEC 14496-12 §10, ISO/IEC 14496-15 §8.4 and §9.
    static let groupings: Set<BoxType> = [
        "roll", "prol", "rap ", "tele", "sync", "tscl", "tsas", "stsa", "avss",
    ]

    /// Keys of QuickTime's metadata that stay. Sources: QuickTime File Format, "Metadata"; files of iPhones and of
    /// Android.
    private static let keys: Set<String> = [
        "album", "artist", "author", "camera.focal_length.35mm_equivalent",
        "camera.framereadouttimeinmicroseconds", "camera.identifier", "camera.lens_model",
        "cinematic-video", "cinematic-video.intent", "collection.name", "comment",
        "content.identifier",
        "copyright", "creationdate", "description", "director", "displayname", "encoder",
        "full-frame-rate-playback-intent", "genre", "information", "is-montage", "keywords",
        "live-photo.auto", "live-photo.vitality-score", "live-photo.vitality-scoring-version",
        "make", "model", "originalartist", "performer", "player.movie.audio.balance",
        "player.movie.audio.bass", "player.movie.audio.gain", "player.movie.audio.mute",
        "player.movie.audio.pitchshift", "player.movie.audio.treble",
        "player.movie.visual.brightness", "player.movie.visual.color",
        "player.movie.visual.contrast", "player.movie.visual.tint", "player.version", "producer",
        "publisher", "rating.user", "software", "title", "version", "video-orientation", "year",
    ]
    private static let otherKeys: Set<String> = [
        "com.android.version", "com.android.capture.fps", "com.android.manufacturer",
        "com.android.model", "encoder", "title", "comment", "artist", "copyright", "description",
        "major_brand", "minor_version", "compatible_brands",
    ]
    private static let apple = "com.apple.quicktime."

    /// Returns whether a key of QuickTime's metadata is removed, with its value.
    func leavesOut(key: String) -> Bool {
        switch self {
        case .none: return false
        case .all: return key != Self.identifier
        case .location:
            guard key.hasPrefix(Self.apple) else { return !Self.otherKeys.contains(key) }
            return !Self.keys.contains(String(key.dropFirst(Self.apple.count)))
        }
    }

    /// Returns whether a track is removed: all but pictures, sounds and time codes, and the tracks with which iPhones say when a Live Photo's
    /// still was taken and, where only the location is removed, how a picture is shown.
    ///
    /// A track stays only if all keys of its values may stay: samples have the values of all of them.
    func leavesOut(_ track: MovieTrack) -> Bool {
        guard self != .none, !["vide", "soun", "tmcd"].contains(track.handler) else {
            return false
        }
        guard track.handler == "meta", let keys = track.valueKeys else { return true }
        return !keys.allSatisfy { key in
            switch self {
            case .none: true
            case .location:
                Self.keysOfPairs.contains(key) || Self.keysOfTracks.contains(key)
            case .all: Self.keysOfPairs.contains(key)
            }
        }
    }

    /// Returns whether a name is removed, which programs let people write: of a track's handler, an encoder, a reel or a font.
    func leavesOut(name: ArraySlice<UInt8>) -> Bool {
        switch self {
        case .none: false
        case .location: CoordinateText.isIn(name)
        case .all: true
        }
    }

    /// Keys of tracks that say how the still of a Live Photo stands in its movie.
    private static let keysOfPairs = Set(
        [
            "still-image-time", "live-photo-still-image-transform",
            "live-photo-still-image-transform-reference-dimensions",
        ].map { apple + $0 })
    /// Further keys of tracks that have no place. Sources: QuickTime File Format, files of iPhones.
    private static let keysOfTracks = Set(
        [
            "video-orientation", "live-photo-info", "smartstyle-info", "scene-illuminance",
            "segment-identifier", "detected-face", "detected-face.bounds", "detected-face.face-id",
            "detected-face.roll-angle", "detected-face.yaw-angle",
        ].map { apple + $0 })

    /// The key of the identifier that links both halves of a Live Photo.
    private static let identifier = "com.apple.quicktime.content.identifier"
}
