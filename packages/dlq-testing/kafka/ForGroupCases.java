// Asks the filter of the Spring recipe, for billing, about records of orders. Arguments: the headers in base64, "-" for
// null, "+" for none. Prints "handled" or "left out" for each.

import java.util.Base64;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import shop.ForGroup;

public class ForGroupCases {
    public static void main(String[] args) {
        for (String header : args) {
            var record = new ConsumerRecord<>("orders", 0, 0, new byte[0], new byte[0]);
            if (header.equals("-")) record.headers().add("dlq-for-group", null);
            else if (!header.equals("+")) record.headers().add("dlq-for-group", Base64.getDecoder().decode(header.substring(1)));
            System.out.println(ForGroup.isForAnother(record, "billing") ? "left out" : "handled");
        }
    }
}
