package deploy

// inspection is what list and doctor see of one host. It changes nothing.
type inspection struct {
	host     *host
	detected bool
	manifest *manifest // nil: absent or invalid
	invalid  error     // why the manifest is invalid

	// The rest is about an installed host.
	sentinel    class
	sentinelErr error
	whole       bool     // the claims are exactly the kit with the digests of this build
	stale       int      // claims with a digest of another build
	changed     []string // other claimed files that are not as generated
	unclaimed   []string // generated paths without a claim where something stands
	healthy     []string // capabilities whose every file is claimed and as generated
}

func inspect(s *site, h *host) *inspection {
	seen := &inspection{host: h, detected: seenDetected(s.root, s.path, h)}
	if seen.manifest, seen.invalid = loadManifest(s.root, h); seen.manifest == nil {
		return seen
	}
	if seen.sentinel, seen.sentinelErr = classifySentinel(s.root, h); seen.sentinelErr != nil {
		return seen
	}
	k := h.kit(seen.manifest.surface)
	seen.whole = seen.manifest.claimsExactly(k)
	for _, part := range k.parts {
		sound := true
		for _, f := range append(part.supporting[:len(part.supporting):len(part.supporting)], part.callable) {
			sound = seen.count(s.root, f) && sound
		}
		if sound {
			seen.healthy = append(seen.healthy, part.name)
		}
	}
	return seen
}

// count looks at one generated file and reports whether it is claimed and as
// generated.
func (seen *inspection) count(root folder, f *generatedFile) bool {
	claim, claimed := seen.manifest.claims[f.path]
	if claimed && claim != f.digest {
		seen.stale++
		return false
	}
	if !claimed {
		if info, err := lookAt(root, f.path); err != nil || info != nil {
			seen.unclaimed = append(seen.unclaimed, f.path)
		}
		return false
	}
	// What cannot be looked at is certainly not as it was generated.
	if c, err := classify(root, seen.manifest, f); err != nil || c != classPristine {
		seen.changed = append(seen.changed, f.path)
		return false
	}
	return true
}
