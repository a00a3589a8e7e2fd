"""Programs as text: normalising what people paste, checking what is allowed, the scenarios. Without torch."""
