package org.skerry.alerts;

import java.time.Duration;

/** Says when a water level is worth waking somebody up. */
public final class AlertRule {
    private final double threshold;
    private final double hysteresis;
    private final Duration holdTime;
    private boolean raised;

    public AlertRule(double threshold, double hysteresis, Duration holdTime) {
        if (hysteresis < 0) {
            throw new IllegalArgumentException("hysteresis must not be negative");
        }
        this.threshold = threshold;
        this.hysteresis = hysteresis;
        this.holdTime = holdTime;
    }

    /** Raised above the threshold, cleared only below threshold minus hysteresis, so that waves do not make it flap. */
    public boolean evaluate(double level, Duration aboveFor) {
        if (!raised && level > threshold && aboveFor.compareTo(holdTime) >= 0) {
            raised = true;
        } else if (raised && level < threshold - hysteresis) {
            raised = false;
        }
        return raised;
    }
}
