package org.skerry.alerts;

import java.util.List;

/** Tells people about an alert: by mail first, by text message when nobody acknowledges. */
public final class Notifier {
    private final List<Channel> channels;

    public Notifier(List<Channel> channels) {
        this.channels = channels;
    }

    /** Tries one channel after the other until somebody acknowledges. */
    public boolean escalate(Alert alert) {
        for (Channel channel : channels) {
            if (channel.deliver(alert) && alert.isAcknowledged()) {
                return true;
            }
        }
        return false;
    }

    public interface Channel {
        boolean deliver(Alert alert);
    }

    public interface Alert {
        boolean isAcknowledged();
    }
}
